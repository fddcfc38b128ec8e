"""What is known on a branch, and what is not."""

from datetime import UTC, datetime, timedelta

import pytest

from companions.branches.operations import choose, choose_alternative, fork
from companions.models import Branch, Companion, Conversation, Message, Session
from companions.models.companion import hold
from database.journal import made_after
from memory.core_memory import set_slot
from memory.learning.revisions import add_revision
from memory.models import Memory, Revision, Slot
from memory.models.core_memory import By
from memory.store import keep_fact
from tests.companions.talking import say

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


def known(companion: Companion) -> set[str]:
    return set(Memory.objects.of(companion.pk).values_list("text", flat=True))


def slots(companion: Companion) -> dict[str, str]:
    return dict(Slot.objects.filter(companion=companion).values_list("name", "text"))


def test_what_was_learnt_on_one_branch_is_not_known_on_another(mira: Companion) -> None:
    first, second = say(mira, "I have a cat.", "What is it called?", at=NOW)
    keep_fact(mira.pk, "Ana has a cat.", NOW, NOW, [first.pk])
    set_slot(mira.pk, "cat", "nameless", by=By.COMPANION, now=NOW)
    say(mira, "It is called Zip.", "Zip!", at=NOW + timedelta(minutes=5))
    keep_fact(mira.pk, "The cat is called Zip.", NOW, NOW)
    set_slot(mira.pk, "cat", "Zip", by=By.COMPANION, now=NOW)
    add_revision(
        mira.pk, Revision.About.USER_PROFILE, [{"text": "Has Zip.", "sources": []}], Revision.By.CLOSING, NOW
    )
    with_zip = known(mira)

    fork(mira, second.pk, NOW)
    assert known(mira) == {"I have a cat.", "What is it called?", "Ana has a cat."}
    assert slots(mira) == {"cat": "nameless"}
    assert not Revision.objects.exists()
    say(mira, "It is called Zap.", "Zap!", at=NOW + timedelta(minutes=9))
    set_slot(mira.pk, "cat", "Zap", by=By.COMPANION, now=NOW)

    left = Branch.objects.get(companion=mira, left_at__isnull=False)
    choose(left, NOW)
    assert known(mira) == with_zip
    assert slots(mira) == {"cat": "Zip"}
    assert [revision.text for revision in Revision.objects.all()] == ["Has Zip."]
    choose(Branch.objects.exclude(pk=left.pk).get(companion=mira), NOW)
    assert slots(mira) == {"cat": "Zap"}
    assert "It is called Zip." not in known(mira)


def test_to_part_within_a_closed_session_opens_it_again(mira: Companion) -> None:
    said = say(mira, "Good morning.", "Good morning.", "I am off.", "Until then.", at=NOW)
    Session.objects.filter(companion=mira).update(ended_at=NOW + timedelta(minutes=4), title="A morning")
    say(mira, "Back again.", "Hello.", at=NOW + timedelta(hours=9))
    assert Session.objects.filter(companion=mira).count() == 2

    fork(mira, said[1].pk, NOW)
    [session] = Session.objects.filter(companion=mira)
    assert (session.ended_at, session.title) == (None, "")
    assert list(session.messages.order_by("said_at")) == said[:2]
    choose_alternative(said[2], NOW)
    assert Session.objects.filter(companion=mira, ended_at=None).count() == 1
    assert Conversation.objects.get(companion=mira).head.text == "Hello."  # type: ignore[union-attr]
    assert hold(mira.pk).conversation.branch == Branch.objects.get(head__text="Hello.")  # type: ignore[union-attr]
    assert Message.objects.filter(companion=mira).count() == 6


def test_messages_are_learnt_from_where_that_was_done(mira: Companion) -> None:
    first, second, third, _last = say(mira, "One.", "Two.", "Three.", "Four.", at=NOW)

    def learnt() -> set[str]:
        return set(Message.everywhere.filter(companion=mira, is_learnt=True).values_list("text", flat=True))

    with made_after(third.pk):
        Message.objects.filter(pk__in=[first.pk, second.pk, third.pk]).update(is_learnt=True)
        # Of two changes of one row the last holds.
        Message.objects.filter(pk=first.pk).update(is_learnt=False)
    fork(mira, second.pk, NOW)
    assert learnt() == set()
    choose(Branch.objects.get(companion=mira, left_at__isnull=False), NOW)
    assert learnt() == {"Two.", "Three."}


def test_messages_move_to_another_session_where_that_was_done(mira: Companion) -> None:
    first, second, third, _last = say(mira, "One.", "Two.", "Three.", "Four.", at=NOW)
    was = first.session
    with made_after(third.pk):
        Session.objects.filter(pk=was.pk).update(ended_at=NOW)
        later = Session.objects.create(companion=mira, conversation=mira.conversation, started_at=NOW)
        Message.objects.filter(pk=second.pk).update(session=later)

    fork(mira, second.pk, NOW)
    second.refresh_from_db()
    assert second.session == was
    choose(Branch.objects.get(companion=mira, left_at__isnull=False), NOW)
    second.refresh_from_db()
    assert second.session == later
