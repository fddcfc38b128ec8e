"""What a companion writes reaches the page as safe HTML."""

import re

import pytest

from companions.conversations.markdown import as_html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**bold** and *soft*", "<p><strong>bold</strong> and <em>soft</em></p>"),
        ("one\ntwo", "<p>one<br>\ntwo</p>"),
        ("# Big", "<h3>Big</h3>"),
        ("~~gone~~", "<p><s>gone</s></p>"),
        ("`a < b`", "<p><code>a &lt; b</code></p>"),
        ("```python\nx = '<b>'\n```", "<pre><code>x = '&lt;b&gt;'\n</code></pre>"),
        ("<b>raw</b>", "<p>&lt;b&gt;raw&lt;/b&gt;</p>"),
        ("- one\n- two", "<ul>\n<li>one</li>\n<li>two</li>\n</ul>"),
    ],
)
def test_markdown_becomes_html(text: str, html: str) -> None:
    assert as_html(text).strip() == html


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
        "<iframe src=https://evil.example></iframe>",
        "<svg><a xlink:href=javascript:alert(1)>x</a></svg>",
        "<a href='javascript:alert(1)'>x</a>",
        "| a |\n|:-:|\n| <b onclick=x> |",
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
