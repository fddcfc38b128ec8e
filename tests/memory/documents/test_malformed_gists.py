"""Whatever a model answers when it is asked for gists: no crash, no half of a write, and a later try."""

from typing import Any

import pytest

from memory.documents.gists import write_gists
from memory.models import Memory
from tests.fixtures.malformed import HOPELESS, PARTLY, READABLE, SOME
from tests.memory.documents.conftest import NOON, Give, write_all

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]


SAID_OF_IT = [  # one answer of each way to fail, and all that change what is read of the pages
    *("English prose", "withheld", "a cut stream", "a server's failure", "a refused request", "in a fence"),
    *("lists as objects", "a page that was not asked about", "cut half way", "cut before the last brace"),
]


@pytest.mark.parametrize("name", SAID_OF_IT)
def test_a_malformed_answer_for_gists(given: Give, rehearsal: Any, name: str) -> None:
    document = given(count=1)
    rehearsal.script(SOME[name] | {"task": "gists"})
    kept = write_gists(document.pk, NOON)
    document.refresh_from_db()
    page = document.pages.get()
    assert kept == Memory.objects.filter(kind="gist").count() == bool(page.gist) == bool(page.memory_id)
    assert (kept == 1) == (document.attempts == 0) == (document.error == "") == (document.next_at is None)
    if name in HOPELESS:
        assert kept == 0
    if name in READABLE:
        assert kept == 1
    if not kept:
        assert write_all(document, document.next_at) == 1
    assert name in {*HOPELESS, *READABLE, *PARTLY}
