"""Render messages as safe HTML: a companion's Markdown, and a user's text as plain text with links."""

import re
from collections.abc import Iterator
from html import escape
from urllib.parse import urlsplit

import nh3
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from linkify_it import LinkifyIt
from linkify_it.main import Match
from markdown_it import MarkdownIt
from markdown_it.common.utils import isWhiteSpace
from markdown_it.parser_inline import ParserInline
from markdown_it.renderer import RendererProtocol
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from companions.conversations.formulas import MATHML_ATTRIBUTES, MATHML_TAGS, MATHML_VALUES, add_formulas
from companions.models import Message

HEADINGS_BELOW = 2  # the page has its own h1 and h2
MAX_LANGUAGE_LENGTH = 30
TEXT = {
    "a", "blockquote", "br", "code", "em", "h3", "h4", "h5", "h6", "hr", "p", "pre", "s", "span", "strong",
}  # fmt: skip
LISTS = {"li", "ol", "ul"}
TABLES = {"table", "tbody", "td", "th", "thead", "tr"}
CODE_FRAME = {"button", "figcaption", "figure"}
# The syntax of Markdown at the beginning of a line, around words, and in links. Possessive quantifiers keep a hostile
# text from causing catastrophic backtracking.
LINE_SIGNS = re.compile(
    r"^[ \t]*(?:(?:`{3}|~{3}).*$"  # code fences
    r"|(?:[-*_][ \t]*+){3,}+$|(?=[ \t:|-]{3,}+$)[ \t:|]*+-.*$"  # rules; the line below a table's head
    r"|#{1,6}[ \t]+|(?:>[ \t]?)+|[-*+][ \t]+)",
    re.MULTILINE,
)
TABLE_ROW = re.compile(r"^[ \t]*\|(.+)\|[ \t]*$", re.MULTILINE)
SIGNED_WORDS = (
    re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*\)"),
    re.compile(r"(?<!`)`++([^`\n]+)`++"),
    re.compile(r"\*{1,3}(?=\S)([^*\n]+)(?<=\S)\*{1,3}"),
    re.compile(r"~~(?=\S)([^~\n]+)(?<=\S)~~"),
    re.compile(r"(?<!\w)_{1,3}(?=\S)([^_\n]+)(?<=\S)_{1,3}(?!\w)"),
)
# An address can be only within one of these runs, and only in a short one: the linkifier takes quadratic time.
RUN = re.compile(r"[^\s，。、；：！？（）「」《》【】“”]+")
MAX_ADDRESS_CHARACTERS = 2_000
SCHEME = re.compile(r"(?<![a-z0-9.+-])https?\Z", re.IGNORECASE)
# Characters and punctuation of Chinese, Japanese and Korean, which have no spaces around words.
UNSPACED = re.compile(
    r"[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)
TASK = re.compile(r"\[([ xX])\](?=\s)")
BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)  # in a table's cell, models have no other way
TASK_SIGNS = {" ": "☐", "x": "☑"}


class _InlineState(StateInline):
    """Finds emphasis where CommonMark takes its signs for text: between a character that needs no space and punctuation.

    In `**你好，**世界` the second `**` ends the bold text: https://github.com/tats-u/markdown-cjk-friendly
    """

    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:
        scanned = super().scanDelims(start, canSplitWord)
        end = start + scanned.length
        before, after = self.src[start - 1 : start], self.src[end : end + 1]
        if not canSplitWord or not UNSPACED.search(before + after):
            return scanned
        can_open, can_close = (bool(beside) and not isWhiteSpace(ord(beside)) for beside in (after, before))
        return Scanned(can_open, can_close, scanned.length)


class _InlineParser(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        state = _InlineState(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


class _Linkifier(LinkifyIt):  # type: ignore[misc]  # it has no types
    """Finds addresses in plain text. Chinese punctuation ends an address even without a space."""

    def match(self, text: str) -> list[Match] | None:
        return list(self._find(text)) or None

    def match_at_start(self, text: str) -> Match | None:
        first = RUN.match(text, 0, MAX_ADDRESS_CHARACTERS)
        return super().match_at_start(first[0]) if first else None

    def _find(self, text: str) -> Iterator[Match]:
        for run in RUN.finditer(text):
            if not (":" in run[0] or "@" in run[0]) or len(run[0]) > MAX_ADDRESS_CHARACTERS:
                continue
            for match in super().match(run[0]) or []:
                match.index += run.start()
                match.last_index += run.start()
                yield match


def _read_address(state: StateInline, silent: bool) -> bool:
    """Parse a bare address, as Markdown-it's own rule does; that one searches all text before and after each "://"."""
    if state.linkLevel or not state.src.startswith("://", state.pos):
        return False
    scheme = SCHEME.search(state.src, max(0, state.pos - len("https")), state.pos)
    if scheme is None or not state.pending.endswith(scheme[0]):  # its first letter may be a part of an escape
        return False
    begin = scheme.start()
    link = _linkifier.match_at_start(state.src[begin : begin + MAX_ADDRESS_CHARACTERS])
    if link is None:
        return False
    url = link.url.rstrip("*")  # which ends an emphasis
    address = state.md.normalizeLink(url)
    if not state.md.validateLink(address):
        return False
    if not silent:
        state.pending = state.pending[: begin - state.pos]
        opened = state.push("link_open", "a", 1)
        opened.attrs, opened.markup, opened.info = {"href": address}, "linkify", "auto"
        state.push("text", "", 0).content = state.md.normalizeLinkText(url)
        closed = state.push("link_close", "a", -1)
        closed.markup, closed.info = "linkify", "auto"
    state.pos = begin + len(url)
    return True


def _read_break(state: StateInline, silent: bool) -> bool:
    found = BREAK.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push("hardbreak", "br", 0)
    state.pos = found.end()
    return True


def _render_code(
    renderer: RendererProtocol, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """Render a code block with its language and a copy button. It has a tabindex so that it scrolls by keyboard."""
    token = tokens[index]
    language = escape(" ".join(token.info.split()[:1])[:MAX_LANGUAGE_LENGTH])
    label = " ".join(filter(None, [_("Code"), language]))
    return (
        f'<figure class="code"><figcaption><span>{language}</span>'
        f'<button type="button" class="button button-bare" data-copies="">{_("Copy")}</button></figcaption>'
        f'<pre tabindex="0" role="group" aria-label="{label}"><code>{escape(token.content)}</code></pre></figure>\n'
    )


def _make_markdown() -> MarkdownIt:
    markdown = MarkdownIt()
    markdown.inline = _InlineParser()
    markdown.configure("commonmark", {"html": False, "breaks": True, "linkify": True})
    markdown.enable(["table", "strikethrough", "linkify"]).disable("image")
    markdown.linkify = _linkifier
    markdown.inline.ruler.at("linkify", _read_address)
    markdown.inline.ruler.push("break", _read_break)
    markdown.add_render_rule("fence", _render_code)
    markdown.add_render_rule("code_block", _render_code)
    add_formulas(markdown)
    return markdown


_linkifier = _Linkifier(options={"fuzzy_link": False})
for _schema in ("ftp:", "//"):
    _linkifier.add(_schema, None)
_markdown = _make_markdown()


def as_html(text: str) -> SafeString:
    """Render Markdown as HTML: no raw HTML, no images, and links only to http, https and mailto, in new tabs."""
    tokens = _markdown.parse(text)
    for token in tokens:
        if style := token.attrs.pop("style", None):  # of a cell; the content policy forbids styles
            token.attrSet("align", str(style).removeprefix("text-align:"))
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(int(token.tag[1]) + HEADINGS_BELOW, 6)}"
        if token.type == "table_open":
            token.attrSet("tabindex", "0")  # a wide table scrolls by keyboard
        if token.children:
            token.children = _show_hosts(token.children)
    for item, line in zip(tokens, tokens[2:], strict=False):  # a paragraph begins in between
        if item.type == "list_item_open" and line.children and TASK.match(line.content):
            item.attrSet("class", "task")
            first = line.children[0]
            first.content = TASK.sub(lambda sign: TASK_SIGNS[sign[1].lower()], first.content, count=1)
    return _clean(_markdown.renderer.render(tokens, _markdown.options, {}))


def as_plain(text: str) -> str:
    """Return the text of the Markdown without its syntax, for places that show only a piece of it."""
    text = TABLE_ROW.sub(lambda row: row[1].replace("|", " "), BREAK.sub(" ", LINE_SIGNS.sub("", text)))
    for _round in range(2):  # bold text may contain italic text
        for signs in SIGNED_WORDS:
            text = signs.sub(r"\1", text)
    return text


def read_plainly(message: Message) -> str:
    """Return the message's text without Markdown's syntax. Only the companion's is Markdown; any other is unchanged."""
    return as_plain(message.text) if message.role == Message.Role.ASSISTANT else message.text


def as_linked_html(text: str) -> SafeString:
    """Return plain text as escaped HTML in which addresses are links."""
    html, done = "", 0
    for match in _linkifier.match(text) or []:
        address = _markdown.normalizeLink(match.url)
        html += escape(text[done : match.index])
        html += f'<a href="{escape(address)}">{escape(text[match.index : match.last_index])}</a>'
        done = match.last_index
    return _clean(html + escape(text[done:]))


def _show_hosts(tokens: list[Token]) -> list[Token]:
    """Add the target's host to each link whose text does not name it."""
    shown: list[Token] = []
    address, words = "", ""
    for token in tokens:
        shown.append(token)
        if token.type == "link_open":
            is_bare = token.markup in {"linkify", "autolink"}
            address, words = "" if is_bare else str(token.attrGet("href") or ""), ""
        elif token.type == "link_close" and (host := _find_host(address)) and _find_host(words) != host:
            shown.append(Token("html_inline", "", 0, content=f' <span class="host">({escape(host)})</span>'))
        else:
            words += token.content
    return shown


def _find_host(address: str) -> str:
    """Return the host of a web or mail address, normalised for look-ups, or "" if it has none."""
    try:
        parts = urlsplit(_markdown.normalizeLink(address.strip()))
    except ValueError:
        return ""
    mail_host = parts.path.rpartition("@")[2] if parts.scheme in {"", "mailto"} and "@" in parts.path else ""
    return parts.hostname or mail_host


def _clean(html: str) -> SafeString:
    """Sanitise the HTML, and mark it as safe."""
    cleaned = nh3.clean(
        html,
        tags=TEXT | LISTS | TABLES | CODE_FRAME | MATHML_TAGS,
        attributes={
            "a": {"href", "title"},
            "ol": {"start"},
            "th": {"align"},
            "td": {"align"},
            "table": {"tabindex"},
            "span": {"tabindex"},
            "pre": {"tabindex", "role", "aria-label"},
            "button": {"type", "data-copies"},
            **MATHML_ATTRIBUTES,
        },
        tag_attribute_values=MATHML_VALUES,
        allowed_classes={
            "button": {"button", "button-bare"},
            "figure": {"code"},
            "li": {"task"},
            "span": {"formula", "host"},
        },
        url_schemes={"http", "https", "mailto"},
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )
    return mark_safe(cleaned)  # noqa: S308
