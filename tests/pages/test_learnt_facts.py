"""What was learnt, on the page: why it is known, what it replaced, and how it is corrected."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from companions.models import Companion
from memory.models import Memory
from memory.store import keep_fact, retract

pytestmark = pytest.mark.django_db


@pytest.fixture
def learnt(mira: Companion) -> Memory:
    """Alice likes tea, and before that liked coffee."""
    now = timezone.now()
    old = keep_fact(mira.pk, "Alice likes coffee.", now - timedelta(days=9), now)
    new = keep_fact(mira.pk, "Alice likes tea.", now, now)
    new.kind, new.quotes, new.evidence = "preference", [{"message": str(new.pk), "text": "I like tea"}], 3
    new.save(update_fields=["kind", "quotes", "evidence"])
    retract(old, now, replaced_by=new)
    return new


def test_a_memory_says_why_it_is_known_and_what_it_replaced(at_home: Client, learnt: Memory) -> None:
    page = at_home.get(f"/companions/{learnt.companion_id}/memories/{learnt.pk}/").content.decode()
    for words in ('<q dir="auto">I like tea</q>', "told 3 times", "Before:", "Alice likes coffee."):
        assert words in page
    once = at_home.get(f"/companions/{learnt.companion_id}/memories/?kind=closed").content.decode()
    assert "Since then:" in once
    assert "Alice likes tea." in once


def test_what_was_learnt_is_corrected_in_text_weight_and_time(at_home: Client, learnt: Memory) -> None:
    path = f"/companions/{learnt.companion_id}/memories/{learnt.pk}/edit/"
    assert 'type="datetime-local"' in at_home.get(path).content.decode()
    answer = at_home.post(
        path, {"text": "Alice likes milk.", "importance": "9", "happened_at": "2020-05-02T09:30"}
    )
    assert answer.status_code == 302
    learnt.refresh_from_db()
    assert (learnt.text, learnt.importance, learnt.kind) == ("Alice likes milk.", 9, "preference")
    assert f"{learnt.happened_at:%Y-%m-%d %H:%M}" == "2020-05-02 07:30"  # in her zone it was half past nine
    assert learnt.quotes
    assert at_home.post(path, {"text": "x", "happened_at": "0001-01-02T00:00"}).status_code == 422


def test_every_kind_can_be_listed(at_home: Client, learnt: Memory) -> None:
    for kind in (*Memory.Kind.values, "pinned", "private", "closed"):
        page = at_home.get(f"/companions/{learnt.companion_id}/memories/?kind={kind}")
        assert page.status_code == 200
    assert (
        "Alice likes tea."
        in at_home.get(f"/companions/{learnt.companion_id}/memories/?kind=preference").content.decode()
    )
