"""Pages are compressed, unless another site may have chosen some of their text."""

import gzip

import pytest
from django.test import Client

from companions.models import Companion

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


def test_a_drawn_face_is_compressed_and_not_sent_again(at_home: Client, mira: Companion) -> None:
    asked = {"Accept-Encoding": "gzip"}
    face = at_home.get(f"/companions/{mira.pk}/face/image/", headers=asked)
    assert gzip.decompress(face.content).startswith(b"<svg")
    again = at_home.get(
        f"/companions/{mira.pk}/face/image/", headers={**asked, "If-None-Match": face["ETag"]}
    )
    assert (again.status_code, again.content) == (304, b"")
