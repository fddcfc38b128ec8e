"""Revisions of what a companion thinks of itself and knows of its user: what they hold, and how one holds again."""

import pytest

from companions.deletion import delete_message
from companions.memories.editing import restore_revision, write_revision
from companions.models import Companion
from memory.learning.revisions import add_revision
from memory.models import Revision
from tests.companions.deletion.conftest import MARKER, NOW, profile, say, told

pytestmark = pytest.mark.django_db
PROFILE = Revision.About.USER_PROFILE


@pytest.mark.parametrize("by", [Revision.By.CLOSING, Revision.By.IMPORT, Revision.By.OPERATOR])
def test_nobody_writes_more_than_twenty_sentences_of_four_hundred_characters(
    mira: Companion, by: Revision.By
) -> None:
    sentences = [{"text": f"{n} " + "long " * 200, "sources": []} for n in range(25)]
    held = add_revision(mira.pk, PROFILE, sentences, by, NOW)
    assert [len(one["text"]) for one in held.sentences] == [400] * 20
    assert held.sentences[0]["text"].endswith("lo…")
    assert add_revision(mira.pk, PROFILE, sentences, by, NOW) == held


def test_what_was_deleted_after_a_revision_was_found_does_not_come_back_with_it(mira: Companion) -> None:
    message, other = say(mira, f"My locker opens with {MARKER}.", "I see.")
    found = profile(mira, told(f"A locker, {MARKER}.", message), told("Is calm.", other))
    write_revision(mira, PROFILE, ["Likes tea."], NOW)
    delete_message(message, NOW)
    restored = restore_revision(mira, found, NOW)
    assert ([one["text"] for one in restored.sentences], restored.is_stale) == (["Is calm."], False)
    assert restored == Revision.objects.of(mira.pk, PROFILE)[0]


def test_a_revision_that_is_gone_or_anothers_cannot_hold_again(mira: Companion, tian: Companion) -> None:
    theirs, mine = (
        write_revision(tian, PROFILE, ["Theirs."], NOW),
        write_revision(mira, PROFILE, ["Mine."], NOW),
    )
    Revision.objects.filter(companion=mira, pk=mine.pk).delete()
    for revision in (theirs, mine):
        with pytest.raises(Revision.DoesNotExist):
            restore_revision(mira, revision, NOW)
    assert not Revision.objects.filter(companion=mira).exists()
