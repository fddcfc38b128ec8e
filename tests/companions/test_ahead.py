"""What is looked at while a message is being saved, and what is not."""

import asyncio
from typing import Any

import pytest

from companions.models import Companion
from companions.replies.ahead import begin_to_look, looked_ahead

pytestmark = pytest.mark.django_db(transaction=True)


async def _looked(companion: Companion, text: str) -> object:
    return await looked_ahead(begin_to_look(companion, text))


def test_what_cannot_be_saved_is_not_looked_for(mira: Companion) -> None:
    assert asyncio.run(_looked(mira, "ab " * 11_000)) is None


def test_nobody_outside_is_asked_before_the_gate(mira: Companion, settings: Any) -> None:
    wanted = {"base_url": "http://127.0.0.1:9/v1", "api_key": "", "model": "far-away"}
    settings.EMBEDDING = {**settings.EMBEDDING, **wanted}
    assert asyncio.run(_looked(mira, "tea")) is None
