"""MetaGPT's `delete_newest`: the newest memory goes, from everywhere."""

from datetime import timedelta

import pytest
from django.utils import timezone

from companions.deletion import forget_newest
from companions.models import Companion, Message, Prompt
from companions.replies.lifecycle import start
from memory.embedding import embed_waiting
from memory.models import Embedding, Memory
from memory.store import keep_fact
from tests.companions.everywhere import tables_with

pytestmark = pytest.mark.django_db
MARKER = "Zxqvorn"


def test_the_newest_is_gone_from_every_table_and_is_given_back(mira: Companion, tian: Companion) -> None:
    now = timezone.now()
    older = keep_fact(mira.pk, "Tea at four.", now - timedelta(days=1), now)
    hers = keep_fact(tian.pk, "Tea at five.", now, now)
    started = start(mira, f"My word is {MARKER}.", None, now)
    newest = Memory.objects.get(message=started.message)
    embed_waiting()
    Prompt.objects.create(
        companion=mira, reply=started.reply, messages=[MARKER], shown=[newest.pk], created_at=now
    )
    gone = forget_newest(mira, now, with_message=True)
    assert (gone.pk, gone.text) == (newest.pk, f"My word is {MARKER}.")
    assert tables_with(MARKER) == {}
    assert set(Memory.objects.all()) == {older, hers}
    assert not Embedding.objects.filter(memory=newest.pk).exists()


def test_its_message_stays_hidden_unless_it_is_to_go_as_well(mira: Companion) -> None:
    started = start(mira, "Tea at six.", None, timezone.now())
    forget_newest(mira, timezone.now())
    assert Message.objects.get(pk=started.message.pk).is_hidden


def test_what_no_longer_holds_is_not_the_newest(mira: Companion) -> None:
    now = timezone.now()
    holds = keep_fact(mira.pk, "I live in Kiel.", now - timedelta(days=2), now)
    closed = keep_fact(mira.pk, "I live in Bonn.", now, now)
    Memory.objects.filter(pk=closed.pk).update(closed_at=now)
    assert forget_newest(mira, now) == holds


def test_of_nothing_nothing_is_forgotten(mira: Companion, tian: Companion) -> None:
    keep_fact(tian.pk, "Tea at five.", timezone.now(), timezone.now())
    assert forget_newest(mira, timezone.now()) is None
    assert Memory.objects.count() == 1
