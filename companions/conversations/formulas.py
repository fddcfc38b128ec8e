"""Formulas in Markdown: found between delimiters and rendered as MathML; those that cannot be parsed stay as text."""

import re
from functools import lru_cache
from html import escape, unescape
from xml.etree.ElementTree import tostring

from latex2mathml.converter import convert_to_element
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererProtocol
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

MAX_FORMULA_LENGTH = 1_000
MAX_FORMULAS_LENGTH = 10_000  # of all formulas in one text
CACHED_FORMULAS = 2_000
CLOSERS = {"$$": "$$", "\\[": "\\]", "\\(": "\\)", "$": "$"}
DISPLAYED = {"$$", "\\["}
# "$5 and more than 10$" are prices, and so is "$5元": a number followed by a word.
PRICE = re.compile(r"\d[\d.,]*(\s+([^\W\d_]\s+)?[^\W\d_]{2,}|[\u4e00-\u9fff])")
NUMBERED = re.compile(r"\\(begin|end)\{(align|equation|gather)\}")

MATHML_TAGS = {
    *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mstyle", "mpadded", "mphantom", "menclose", "merror"),
    *("msub", "msup", "msubsup", "munder", "mover", "munderover", "mfrac", "msqrt", "mroot", "mtable", "mtr", "mtd"),
}  # fmt: skip
MATHML_ATTRIBUTES = {
    "mi": {"mathvariant"},
    "mo": {"stretchy", "fence", "form", "largeop", "movablelimits"},
    "mstyle": {"displaystyle", "scriptlevel"},
    "mtable": {"displaystyle"},
}
# Only values by which a formula can neither become wide nor cover other text.
MATHML_VALUES = {
    "math": {"display": {"inline", "block"}},
    "mspace": {"width": {"0.167em", "0.222em", "0.278em", "0.333em", "0.5em", "1em", "2em"}},
    "mfrac": {"linethickness": {"0"}},
    "mtd": {"columnalign": {"left", "center", "right"}},
    "menclose": {"notation": {"box"}},
}


def add_formulas(markdown: MarkdownIt) -> None:
    """Parse $…$ and \\(…\\) as inline formulas, $$…$$ and \\[…\\] as displayed ones."""
    may_end = ["paragraph", "reference", "blockquote", "list"]
    markdown.block.ruler.before("fence", "formula", _read_block, {"alt": may_end})
    markdown.inline.ruler.before("escape", "formula", _read_inline)
    markdown.add_render_rule("formula", _render)


@lru_cache(CACHED_FORMULAS)
def to_mathml(latex: str, *, is_displayed: bool) -> str | None:
    """Return the LaTeX formula as MathML, or None if it cannot be converted."""
    unnumbered = NUMBERED.sub(r"\\\1{\2*}", latex)
    try:
        math = convert_to_element(unnumbered, display="block" if is_displayed else "inline")
        for element in math.iter():
            if element.text:
                element.text = unescape(element.text)
                if element.text.startswith("\\") and len(element.text) > 1:
                    return None  # a command that the converter does not know
        return tostring(math, encoding="unicode")
    except Exception:  # noqa: BLE001 (the formula is untrusted, and the converter may raise anything)
        return None


def _find_formula(text: str, start: int) -> tuple[str, int] | None:
    """Return the opening delimiter of a formula at `start` and the offset of the closing one, or None without any."""
    opener = next((opener for opener in CLOSERS if text.startswith(opener, start)), None)
    if opener is None:
        return None
    begin = start + len(opener)
    end = text.find(CLOSERS[opener], begin, begin + MAX_FORMULA_LENGTH)
    while end > 0 and text[end - 1] == "\\" and opener.startswith("$"):
        end = text.find("$", end + 1, begin + MAX_FORMULA_LENGTH)
    content = text[begin : max(end, begin)]
    if not content.strip() or (opener == "$" and not _is_formula(text, start, end)):
        return None
    return opener, end


def _is_formula(text: str, start: int, end: int) -> bool:
    """Return whether the text between two single dollars is a formula, not the text between two prices."""
    content, around = text[start + 1 : end], text[start - 1 : start] + text[end + 1 : end + 2]
    touches_word = any(character.isascii() and character.isalnum() for character in around)
    is_apart = content[0].isspace() or content[-1].isspace() or "\n" in content
    return not touches_word and not is_apart and not PRICE.match(content)


def _read_inline(state: StateInline, silent: bool) -> bool:
    found = _find_formula(state.src, state.pos)
    if found is None:
        return False
    opener, end = found
    if not silent:
        token = state.push("formula", "", 0)
        token.markup, token.content = opener, state.src[state.pos + len(opener) : end]
    state.pos = end + len(CLOSERS[opener])
    return True


def _read_block(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Parse a formula that has its lines to itself, before Markdown interprets these lines."""
    start = state.bMarks[start_line] + state.tShift[start_line]
    found = None if state.is_code_block(start_line) else _find_formula(state.src, start)
    if found is None or found[0] not in DISPLAYED:
        return False
    opener, end = found
    last_line = next((line for line in range(start_line, end_line) if end < state.eMarks[line]), None)
    if last_line is None or state.src[end + 2 : state.eMarks[last_line]].strip():
        return False
    if not silent:
        token = state.push("formula", "", 0)
        token.markup, token.block, token.map = opener, True, [start_line, last_line + 1]
        token.content = state.src[start + 2 : end]
        state.line = last_line + 1
    return True


def _render(
    renderer: RendererProtocol, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    token = tokens[index]
    is_displayed = token.markup in DISPLAYED
    env["formulas"] = env.get("formulas", 0) + len(token.content)
    mathml = None
    if env["formulas"] <= MAX_FORMULAS_LENGTH:
        mathml = to_mathml(token.content.strip(), is_displayed=is_displayed)
    if mathml is None:
        written = escape(token.markup + token.content + CLOSERS[token.markup])
        return f"<p>{written}</p>\n" if token.block else written
    return f'<span class="formula" tabindex="0">{mathml}</span>' if is_displayed else mathml
