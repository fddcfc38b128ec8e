"""`make bench-ten-days` on a small scale: made-up people live for three days, and its checks find what is made up."""

import json
from pathlib import Path

import pytest

from bench.ten_days.checking import Source, marks, unfounded
from bench.ten_days.living import live
from bench.ten_days.reading import people
from bench.ten_days.report import look
from memory.models import Memory, Revision

DAYS = {
    "2024-02-01": [
        ("My name is Nora and I keep 12 bees' hives near Bergen.", "Twelve! I like honey in my tea."),
        ("My brother Olav visits me on 3 February.", "I hope that Olav likes honey."),
    ],
    "2024-02-02": [("I do not like coffee any more, now I prefer tea.", "I prefer tea as well.")],
    "2024-02-03": [
        ("我今天读完了《红楼梦》，花了三天。", "我很喜欢这本书。"),
        ("Olav stayed until Sunday and we ate 5 jars.", "I am glad for you both."),
    ],
}
SOURCES = {"1": Source("Nora", "I keep 12 hives near Bergen with Olav.", "2024-02-01")}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    history = {
        day: [{"query": query, "response": answer} for query, answer in said] for day, said in DAYS.items()
    }
    silent = {"name": "Quiet", "history": {day: [] for day in DAYS}}
    path = tmp_path / "memory_bank_en.json"
    path.write_text(json.dumps({" Nora ": {"name": "Nora", "history": history}, "Quiet": silent}))
    return path


def test_people_are_read_day_by_day_and_those_who_were_silent_left_out(file: Path) -> None:
    [nora] = people(file, most=5, days=3)
    assert nora.name == "Nora"
    assert [len(day.exchanges) for day in nora.days] == [2, 1, 2]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("rehearsal")
def test_days_lived_through_leave_a_closed_session_each_and_nothing_unfounded(file: Path) -> None:
    [nora] = people(file, most=5, days=3)
    companion = live(nora)
    lived = look(companion)
    assert lived.unfounded == []
    assert (lived.sessions, lived.open_sessions, lived.entries) == (3, 0, 3)
    assert (lived.self_revisions, lived.profile_revisions) == (1, 1)  # the next after twenty messages of hers
    assert lived.is_revised_once_a_day
    assert lived.memories > 3
    assert lived.sessions <= lived.calls <= 4 * lived.sessions
    assert lived.is_same_again
    assert lived.is_right(3)
    assert Revision.objects.of(companion.pk, "user_profile").count() == 1

    memory = Memory.objects.filter(companion=companion).exclude(kind__in=["said", "diary"])[0]
    memory.text += " In 1999 Ingrid was there."
    memory.save()
    assert [one.what for one in look(companion).unfounded] == ["1999", "Ingrid"]


def test_what_stands_in_no_source_is_found() -> None:
    def wrong(text: str, *sources: str) -> list[str]:
        return [one.what for one in unfounded([{"text": text, "sources": sources}], SOURCES, ["Juno"])]

    assert wrong("Nora told Juno of 12 hives near Bergen on 2024-02-01.", "1") == []
    assert wrong("Nora has 13 hives near Oslo.", "1") == ["13", "Oslo"]
    assert wrong("On 2024-02-02 Olav came.", "1") == ["2024-02-02"]
    assert wrong("They met on Monday in March.", "1") == ["Monday", "March", "Monday", "March"]
    assert wrong("她读了《红楼梦》三天，叫王小明。", "1") == ["三", "红楼梦", "王小明"]
    assert wrong("Bees are kept.") == [""]
    assert wrong("Bees are kept.", "1", "2") == [""]


def test_a_word_that_only_begins_a_sentence_is_no_name() -> None:
    assert marks("Bees hum. Hives are warm: “They sleep.” I'm glad") == []
