"""As many branches as a companion may have: listed page by page, chosen, deleted from; one more is refused."""

from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import DjangoAssertNumQueries

from companions.branches.operations import MAX_BRANCHES, choose, delete, fork
from companions.deletion import delete_message
from companions.errors import BranchError
from companions.models import Branch, Companion, Conversation, Message
from memory.core_memory import set_slot
from memory.models import Slot
from memory.models.core_memory import By
from tests.companions.talking import say
from tests.fixtures.rest import Api

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


def test_ten_thousand_branches(
    mira: Companion, as_alice: Api, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    first, second, third, _fourth = say(mira, "One.", "Two.", "Three.", "Four.", at=NOW)
    set_slot(mira.pk, "tea", "green", by=By.COMPANION, now=NOW)
    fork(mira, first.pk, NOW)
    there = Branch.objects.get(companion=mira, left_at=NOW)
    Branch.objects.bulk_create(
        Branch(
            companion=mira,
            conversation=mira.conversation,
            head_id=second.pk,
            made_at=NOW + timedelta(seconds=number),
        )
        for number in range(MAX_BRANCHES - 2)
    )
    with pytest.raises(BranchError) as refused:
        fork(mira, third.pk, NOW)
    assert refused.value.code == "too_many_branches"
    assert "10,000" in str(refused.value.detail)

    path, seen, cursor = f"/companions/{mira.pk}/branches", 0, ""
    while seen <= 500:
        with django_assert_max_num_queries(4):
            page = as_alice.get(f"{path}?limit=100{cursor and f'&cursor={cursor}'}").json()
        seen, cursor = seen + len(page["items"]), page["next"]

    choose(there, NOW)
    assert Slot.objects.get(companion=mira).text == "green"
    delete_message(second, NOW)  # ten thousand branches end with it
    assert Branch.objects.filter(companion=mira, head=first).count() == MAX_BRANCHES - 1
    delete(Branch.objects.filter(companion=mira, head=first).latest("made_at"), NOW)
    assert Conversation.objects.get(companion=mira).branch == there
    assert Message.objects.filter(companion=mira).count() == 3
