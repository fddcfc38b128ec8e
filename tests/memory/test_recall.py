"""Recall by words and by meaning, within one companion."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from companions.models import Companion
from memory.embedding import embed_cue, embed_waiting
from memory.models import Recall
from memory.recall import Found, recall, record
from tests.memory.conftest import DAY, Say

NOW = DAY + timedelta(days=8)


def ask(companion: Companion, cue: str, limit: int = 10, **options: object) -> list[Found]:
    return recall(companion.pk, cue, limit, now=NOW, zone=UTC, **options)


def test_what_was_said_is_recalled_by_its_words_before_anything_is_embedded(mira: Companion, say: Say) -> None:
    museum, _ = say(mira, "I went to the museum and saw the Terracotta Army.", "Dinner was noodles again.")
    found = ask(mira, "Which museums did I visit?", vector=embed_cue("Which museums did I visit?"))
    assert [one.memory for one in found] == [museum]
    assert found[0].reasons["likeness"] is None
    assert found[0].reasons["matched"] == ["museum"]
