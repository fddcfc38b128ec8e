"""Of which day a diary entry is, where the person lives."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from companions.models import Companion, Session
from memory.learning.diary import ClosedSession, Written, keep_entry
from memory.models import DiaryEntry

TOKYO = ZoneInfo("Asia/Tokyo")


@pytest.mark.parametrize(
    ("ended_at", "day"),
    [
        ("2026-05-04T21:00", date(2026, 5, 4)),
        ("2026-05-05T03:59", date(2026, 5, 4)),  # a late evening
        ("2026-05-05T04:00", date(2026, 5, 5)),
    ],
)
def test_a_session_is_of_the_day_on_which_it_ended_and_a_night_of_the_evening_before(
    ended_at: str, day: date
) -> None:
    entry = DiaryEntry(ended_at=datetime.fromisoformat(ended_at).replace(tzinfo=TOKYO).astimezone(UTC))
    assert entry.get_day(TOKYO) == day


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Rain", "Rain: I met Alice. It rained."),
        ("I met Alice.", "I met Alice. It rained."),  # a title made from the first sentence
        ("I met…", "I met Alice. It rained."),
        ("…", "I met Alice. It rained."),
    ],
)
def test_an_entry_tells_nothing_twice(title: str, text: str) -> None:
    sentences = [{"text": "I met Alice."}, {"text": "It rained."}]
    assert DiaryEntry(title=title, sentences=sentences).text == text


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("hours", "comes_up_at"),
    [
        (2, datetime(2026, 5, 4, 22, tzinfo=TOKYO)),  # until midnight: as it began
        (16, datetime(2026, 5, 5, 12, tzinfo=TOKYO)),  # until the next afternoon
    ],
)
def test_an_entry_comes_to_mind_as_of_its_day(mira: Companion, hours: int, comes_up_at: datetime) -> None:
    began = datetime(2026, 5, 4, 22, tzinfo=TOKYO)
    ended = began + timedelta(hours=hours)
    session = Session.objects.create(
        companion=mira, conversation=mira.conversation, started_at=began, ended_at=ended
    )
    told = [{"text": "We spoke of tea.", "sources": []}]
    written = Written(
        title="Tea",
        diary=told,
        emotion="happy",
        intensity=0.5,
        self_concept=[],
        user_profile=[],
        call_id=None,
    )
    closed = ClosedSession(session_id=session.pk, started_at=began, ended_at=ended, written=written)
    entry = keep_entry(mira.pk, closed, ended, TOKYO)
    assert entry.memory is not None
    assert entry.memory.happened_at == comes_up_at


def test_an_entry_is_joined_as_its_script_has_it() -> None:
    told = [{"text": "林晓来找我说话。"}, {"text": "我很高兴。"}]
    assert DiaryEntry(sentences=told).summary == "林晓来找我说话。我很高兴。"
