"""What a companion writes reaches the page as safe HTML."""

import re
from time import process_time, thread_time

import pytest

from companions.conversations.formulas import MAX_FORMULA_LENGTH
from companions.conversations.markdown import as_html, as_linked_html, as_plain


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**bold** and *soft*", "<p><strong>bold</strong> and <em>soft</em></p>"),
        ("one\ntwo", "<p>one<br>\ntwo</p>"),
        ("# Big", "<h3>Big</h3>"),
        ("~~gone~~", "<p><s>gone</s></p>"),
        ("`a < b`", "<p><code>a &lt; b</code></p>"),
        ("<b>raw</b>", "<p>&lt;b&gt;raw&lt;/b&gt;</p>"),
        ("- one\n- two", "<ul>\n<li>one</li>\n<li>two</li>\n</ul>"),
        ("- [ ] one\n- [x] two", '<ul>\n<li class="task">☐ one</li>\n<li class="task">☑ two</li>\n</ul>'),
        ("one<br>two`<br>`", "<p>one<br>\ntwo<code>&lt;br&gt;</code></p>"),
        ("**你好，**世界", "<p><strong>你好，</strong>世界</p>"),
        ("说：**“好。”**然后~~不，~~走", "<p>说：<strong>“好。”</strong>然后<s>不，</s>走</p>"),
        (
            "**注意**：**`码`**，*是。*的 ** 不",
            "<p><strong>注意</strong>：<strong><code>码</code></strong>，<em>是。</em>的 ** 不</p>",
        ),
        ("**강조(bold)**는", "<p><strong>강조(bold)</strong>는</p>"),
        ("**Well,**then", "<p>**Well,**then</p>"),
    ],
)
def test_markdown_becomes_html(text: str, html: str) -> None:
    assert as_html(text).strip() == html


def test_columns_of_a_table_are_aligned() -> None:
    html = as_html("|a|b|c|\n|:-|-:|-|\n|1|2|3|")
    assert '<th align="left">a</th>\n<th align="right">b</th>\n<th>c</th>' in html
    assert '<td align="right">2</td>' in html
    assert "style" not in html


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("# Big\n\nand **bold with *soft* in it**", "Big\n\nand bold with soft in it"),
        ("- one\n* two\n> three\n---\nfour", "one\ntwo\nthree\n\nfour"),
        ("粗**体**字，`码`，~~删~~", "粗体字，码，删"),
        ("[there](https://example.org/a?b) and ![a cat](cat.png)", "there and a cat"),
        ("```python\nx = 2 * y_z * 3\n```", "\nx = 2 * y_z * 3\n"),
        ("|a|b<br>c|\n|:-|---|\n_now_ snake_case __all__", "a b c\n\nnow snake_case all"),
        ("5 < 6, - 7 * 8, $5 and #3", "5 < 6, - 7 * 8, $5 and #3"),
    ],
)
def test_a_piece_of_markdown_is_shown_without_its_signs(text: str, plain: str) -> None:
    assert as_plain(text) == plain


@pytest.mark.parametrize("sign", [*"`*_~#>-[|", "[a](", "- ", "**a ", "`a"])
def test_signs_without_end_are_read_in_no_time(sign: str) -> None:
    began = thread_time()
    as_plain(sign * (32_000 // len(sign)) + "x")
    assert thread_time() - began < 1


@pytest.mark.parametrize("address", ["https://example.org/", "http://example.org/", "mailto:a@example.org"])
def test_links_open_apart_and_tell_nothing(address: str) -> None:
    html = as_html(f"[there]({address})")
    assert f'href="{address}"' in html
    assert 'rel="noopener noreferrer nofollow"' in html
    assert 'target="_blank"' in html


@pytest.mark.parametrize(
    "text",
    [
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](vbscript:x)",
        "[x](/admin/)",
        "[x](//evil.example/)",
        "![x](https://evil.example/x.png)",
        "<img src=x onerror=alert(1)>",
        "<script>alert(1)</script>",
        "<style>*{display:none}</style>",
        "<iframe src=//evil.example></iframe>",
        "<svg><a xlink:href=javascript:alert(1)>x</a></svg>",
        "<a href='javascript:alert(1)'>x</a>",
        "| a |\n|:-:|\n| <b onclick=x> |",
        "$\\text{<img src=x onerror=alert(1)><script>alert(1)</script>}$",
        "$\\href{javascript:alert(1)}{x} \\style{position:fixed}{y} \\class{button}{z}$",
        '```"><script>alert(1)</script>\nx\n```',
    ],
)
def test_nothing_runs_or_loads(text: str) -> None:
    tags = re.findall(r"<[^>]*>", as_html(text))
    assert not [tag for tag in tags if re.match(r"</?(?:script|img|style|iframe|svg)", tag)]
    assert not [tag for tag in tags if re.search(r"\s(?:on\w+|style|src)=", tag)]
    addresses = re.findall(r'href="([^"]*)"', "".join(tags))
    assert [address for address in addresses if not address.startswith("https://evil.example/x.png")] == []


def test_deep_nesting_ends() -> None:
    assert len(as_html("> " * 3_000 + "deep")) < 200_000
    assert len(as_html("[" * 10_000)) < 100_000


def test_code_says_its_language_can_be_copied_and_scrolls_by_the_keyboard() -> None:
    html = as_html("```python hl=1\nx = '<b>'\n```")
    assert "<figcaption><span>python</span>" in html
    assert re.search(r'<button type="button"[^>]* data-copies="">Copy</button>', html)
    assert (
        '<pre tabindex="0" role="group" aria-label="Code python"><code>x = \'&lt;b&gt;\'\n</code></pre>'
        in html
    )
    assert '<pre tabindex="0" role="group" aria-label="Code"><code>indented' in as_html("    indented")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see https://example.org/a?b=1.", ["https://example.org/a?b=1"]),
        ("mail a@example.org", ["mailto:a@example.org"]),
        (
            "请看https://example.org/。还有http://example.com，好",
            ["https://example.org/", "http://example.com"],
        ),
        ("ftp://example.org //example.org example.org javascript:alert(1)", []),
        ("`https://example.org`", []),
        ("\\https://example.org *https://example.org/a_b_c*", ["https://example.org/a_b_c"]),
    ],
)
def test_bare_addresses_are_links(text: str, shown: list[str]) -> None:
    assert re.findall(r'href="([^"]*)"', as_html(text)) == shown
    assert re.findall(r"<a ", as_html(text)) == ["<a "] * len(shown)


@pytest.mark.parametrize("sign", ["://", "http://[", "http://a.b?c#", "a@b.c", "mailto:", "http://"])
def test_an_endless_address_is_read_in_no_time(sign: str) -> None:
    for render in (as_html, as_linked_html):
        began = process_time()
        render(sign * (50_000 // len(sign)))
        assert process_time() - began < 2


def test_a_link_shows_where_it_leads() -> None:
    assert 'bank</a> <span class="host">(evil.example)</span>' in as_html("[bank](https://evil.example/)")
    assert "(evil.example)" in as_html("[https://bank.example](https://evil.example/)")
    assert "(evil.example)" in as_html("[a@bank.example](mailto:a@evil.example)")
    assert "host" not in as_html("[https://example.org](https://example.org/deep) <https://example.org>")


def test_what_a_person_wrote_is_shown_as_written_with_its_links() -> None:
    html = as_linked_html("**a** <b> https://example.org/?a=1&b=2\n$x$")
    assert html.startswith('**a** &lt;b&gt; <a href="https://example.org/?a=1&amp;b=2"')
    assert html.endswith(">https://example.org/?a=1&amp;b=2</a>\n$x$")


@pytest.mark.parametrize(
    "text",
    [
        "$x^2$",
        "\\(x^2\\)",
        "so $$x^2$$ is",
        "$$\nx^2\n$$",
        "\\[x^2\\]",
        "It is:\n\\[\nx^2\n+ y\n- z\n\\]\nand",
        "是$x^2$，",
    ],
)
def test_mathematics_is_shown(text: str) -> None:
    html = as_html(text)
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in html
    assert "$" not in html
    assert "<ul>" not in html


@pytest.mark.parametrize(
    "text",
    [
        "It is $5 and $10.", "$5-$10", "US$5 or A$7", "5$ and 10$", "$5元和10$", "$5 a month, or 50$",
        "$HOME/$PATH", "a $ b $ c", "$$",
        "$\\frac{$", "$\\unknown x$", "$" + "x" * MAX_FORMULA_LENGTH + "$", "$" + "^" * 900 + "$", "$" + "{" * 900 + "$",
    ],
)  # fmt: skip
def test_what_is_no_mathematics_stays_text(text: str) -> None:
    html = as_html(text)
    assert "<math" not in html
    assert html == f"<p>{text}</p>\n"


def test_a_formula_is_neither_wide_nor_laid_over_other_words() -> None:
    html = as_html("$\\hspace{99em} \\hspace{-9em} \\color{white}{x} \\raise{9em}{y} \\rule{99em}{99em}$")
    assert not re.search(r"9em|white", re.sub(r"^<p>\$.*", "", html))
