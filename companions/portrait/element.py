"""SVG elements as text. No style, no script, no words: attributes and shapes alone."""

from html import escape


def element(name: str, *inside: str, **attributes: str | float) -> str:
    """One element; `stroke_width` becomes `stroke-width`, and what is an empty text is left out."""
    written = "".join(
        f' {key.strip("_").replace("_", "-")}="{escape(str(value))}"' for key, value in attributes.items() if value != ""
    )  # fmt: skip
    body = "".join(inside)
    return f"<{name}{written}>{body}</{name}>" if body else f"<{name}{written}/>"


def shape(d: str, fill: str, **attributes: str | float) -> str:
    """A filled path; nothing where there is none."""
    return element("path", d=d, fill=fill, **attributes) if d else ""


def line(d: str, stroke: str, width: float, **attributes: str | float) -> str:
    """A drawn line with round ends; nothing where there is none."""
    if not d:
        return ""
    ends = {"stroke_linecap": "round", "stroke_linejoin": "round"}
    return element("path", d=d, fill="none", stroke=stroke, stroke_width=width, **ends, **attributes)


def group(*inside: str, **attributes: str | float) -> str:
    return element("g", *inside, **attributes)
