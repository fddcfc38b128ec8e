"""`make bench-year` on a small scale: what it prints, what it refuses, and what mem0 is told."""

import re
from datetime import UTC, datetime
from random import Random

import pytest

from accounts.models import ModelCall
from bench.year.life import Life, Turn
from bench.year.living import live, parroting, someone
from bench.year.peer import exchanges, job_of
from bench.year.report import report
from memory.models import Memory
from providers.rehearsal.running import RehearsalServer

AT = datetime(2024, 1, 1, 9, tzinfo=UTC)
SAID = ["My sister Ingrid lives in Bergen.", "I promise to bring you a kite.", "Where does my sister live?"]


@pytest.mark.django_db(transaction=True)
def test_a_day_is_reported_with_its_calls_and_too_many_of_them_are_not_right(
    rehearsal: RehearsalServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with parroting(rehearsal):
        companion = live(someone(), [[Turn(AT.replace(minute=n), text) for n, text in enumerate(SAID)]])
    purposes = ModelCall.objects.filter(companion=companion).exclude(purpose="consolidation")
    assert sorted(purposes.values_list("purpose", flat=True)) == ["answer", "answer", "answer", "closing"]

    report(companion, 1)
    printed = capsys.readouterr().out
    assert "1 days, 3 messages of the person, 1 sessions." in printed
    assert "without being told: 0" in printed
    assert re.search(r"^closing +0\.333 ", printed, re.MULTILINE)

    Memory.objects.filter(companion=companion, kind="relationship").update(evidence=9)
    assert not report(companion, 1)
    assert "evidence 9, told 1 times" in capsys.readouterr().out

    told = exchanges(companion, 2)
    assert [text for _at, text, _answer in told] == SAID[:2]
    [talk] = job_of(told)["talks"]
    assert [turn["answered"][0]["content"] for turn in talk["turns"]] == [answer for *_, answer in told]


def test_changes_are_told_and_both_languages_spoken() -> None:
    texts = [turn.text for turns in Life(Random(1)).days(120) for turn in turns]
    assert sum("now I prefer" in text for text in texts) > 3
    assert 0.1 < sum(not text.isascii() for text in texts) / len(texts) < 0.4
