"""Whether two memories of what happens once tell of the same time: by its day, or by how soon it was told again."""

from datetime import UTC, timedelta
from uuid import uuid4

import pytest

from memory.consolidation.agreement import Agreement, compare
from memory.models import Memory
from tests.memory.consolidation.conftest import DAY

DENTIST = ("Alice went to the dentist", "event")
MOVED = ("Alice moved to Porto on 3 March 2022", "event")


@pytest.mark.parametrize(
    ("kept", "other", "days", "agreement"),
    [
        (DENTIST, ("Alice was at the dentist", "event"), 1, Agreement.SAME),
        (DENTIST, ("Alice was at the dentist", "event"), 30, Agreement.APART),
        (("爱丽丝去看了牙医", "event"), ("爱丽丝看了牙医", "event"), 30, Agreement.APART),
        (MOVED, MOVED, 30, Agreement.SAME),
        (("Alice likes tea", "fact"), ("Alice likes tea", "preference"), 30, Agreement.SAME),
        (DENTIST, ("Alice will go to the dentist", "promise"), 1, Agreement.APART),
        (("Alice will go to the dentist", "promise"), DENTIST, 1, Agreement.APART),
    ],
)
def test_what_happens_once_is_the_same_on_one_day_or_told_again_soon(
    kept: tuple[str, str], other: tuple[str, str], days: int, agreement: Agreement
) -> None:
    one, two = (
        Memory(pk=uuid4(), text=text, kind=kind, happened_at=at)
        for (text, kind), at in ((kept, DAY), (other, DAY + timedelta(days=days)))
    )
    assert compare(one, two, UTC, {"user": "Alice", "companion": "Mira"}) is agreement
