"""Every reason and every loss of a scan has its sentence, in both languages' words."""

import re

import pytest

from companions.lore.explanation import explain
from companions.lore.rules import context, scan

REASON_CODES = re.findall(r"`(\w+)`", (context.Reason.__doc__ or "").partition("`code` is")[2])
LOSS_CODES = {
    *re.findall(r"`(\w+)`", (scan.Dropped.__doc__ or "").partition("`code` is")[2]),
    *("additional_keys", "exclude_keys", "dont_activate", "dont_activate_after_match", "is_greeting"),
    *("activate_only_after", "activate_only_every"),
}


def row(**fields: object) -> dict[str, object]:
    reason = {"code": "key", "key": "lake", "message": 0, "source": "", "entry": ""}
    return {"entry": "b:1", "book": "b", "name": "Lake", "detail": "7", "reason": reason, **fields}


@pytest.mark.parametrize("code", REASON_CODES)
def test_each_reason_has_its_sentence(code: str) -> None:
    reason = {"code": code, "key": "lake", "message": None, "source": "scenario", "entry": "b:2"}
    told = explain({"placed": [row(reason=reason, place="after_desc", depth=None)]})
    assert told.placed[0].why.endswith(".")
    assert told.placed[0].why != code


@pytest.mark.parametrize("code", sorted(LOSS_CODES))
def test_each_loss_has_its_sentence_after_what_called_it(code: str) -> None:
    why = explain({"dropped": [row(code=code)]}).dropped[0].why
    assert why.startswith("“lake” appears in what was just said. ")
    assert "One of its rules" not in why


def test_codes_are_all_there_are() -> None:
    assert len(REASON_CODES) >= 6
    assert len(LOSS_CODES) >= 24


def test_an_entry_is_named_that_called_or_won() -> None:
    called = {"code": "recursion", "key": "lake", "message": None, "source": "", "entry": "b:2"}
    told = explain(
        {
            "placed": [row(entry="b:2", name="Shore", place="depth", depth=0)],
            "dropped": [row(code="group", detail="b:2", reason=called), row(code="of_tomorrow", reason=None)],
        }
    )
    assert told.placed[0].place == "at the end of the talk"
    assert told.dropped[0].why == (
        "“lake” appears in the entry “Shore”, which was added. "
        "Only one entry of its group is added, and that was “Shore”."
    )
    assert "of_tomorrow" in told.dropped[1].why


def test_a_scan_without_an_end_is_told_without_a_pattern() -> None:
    told = explain({"dropped": [row(code="stopped", detail="", reason=None)]})
    assert told.dropped[0].why == "Matching all lorebooks took too long, and was stopped before this entry."
