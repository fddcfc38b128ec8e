"""What a companion wrote, as HTML that is safe to show."""

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

HEADINGS_BELOW = 2  # the page has its own h1 and h2
TEXT = {"a", "blockquote", "br", "code", "em", "h3", "h4", "h5", "h6", "hr", "p", "pre", "s", "strong"}
LISTS = {"li", "ol", "ul"}
TABLES = {"table", "tbody", "td", "th", "thead", "tr"}
_markdown = (
    MarkdownIt("commonmark", {"html": False, "breaks": True})
    .enable(["table", "strikethrough"])
    .disable("image")
)


def as_html(text: str) -> SafeString:
    """Return the Markdown as HTML: no raw HTML, no images, links to http, https and mailto alone, in new tabs."""
    tokens = _markdown.parse(text)
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(int(token.tag[1]) + HEADINGS_BELOW, 6)}"
    html = nh3.clean(
        _markdown.renderer.render(tokens, _markdown.options, {}),
        tags=TEXT | LISTS | TABLES,
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        url_schemes={"http", "https", "mailto"},
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )
    return mark_safe(html)  # noqa: S308
