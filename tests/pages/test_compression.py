"""Pages are compressed, unless another site may have chosen some of their text."""

import gzip

import pytest
from django.test import Client

PAGE = "/companions/new/"
HERE, ELSEWHERE = {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "cross-site"}


@pytest.mark.parametrize(
    ("path", "headers", "is_compressed"),
    [
        (PAGE, ELSEWHERE, True),
        (f"{PAGE}?q=guess", HERE, True),
        (f"{PAGE}?q=guess", ELSEWHERE, False),
        (f"{PAGE}?q=guess", {}, False),
        ("/no/such/page/", {}, False),
    ],
)
def test_a_page_is_compressed_unless_another_site_chose_its_query(
    at_home: Client, path: str, headers: dict[str, str], is_compressed: bool
) -> None:
    page = at_home.get(path, headers={"Accept-Encoding": "gzip", **headers})
    assert (page.get("Content-Encoding") == "gzip") is is_compressed
    text = gzip.decompress(page.content) if is_compressed else page.content
    assert text.rstrip().endswith(b"</html>")
