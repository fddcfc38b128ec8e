"""What is told of a model that is tried: its sentence, its times, and what it can do, found by asking."""

import json
import random
from typing import Any

import pytest

from providers.discovery.probe import Probe, probe_model
from providers.errors import EmptyAnswer, ProviderError, ProviderRefused, ProviderUnavailable
from tests.fixtures.rehearsal import RehearsalServer

SEED = 7
NUMBER = str(random.Random(SEED).randrange(100, 1000))
ANSWER = ["A ", "quiet ", "talk ", "by ", "the ", "fire."]
CALL = {"name": "look_up_weather", "arguments": {"city": "Lisbon"}}


def limit(message: str) -> dict[str, Any]:
    headers = {"Retry-After": "60"}
    return {"error": {"status": 429, "body": {"error": {"message": message}}, "headers": headers}}


async def attempt(server: RehearsalServer) -> Probe:
    return await probe_model(
        server.url, "key", "rehearsal", "What makes an evening good?", random.Random(SEED)
    )


async def test_an_able_model_shows_all_it_can(rehearsal: RehearsalServer) -> None:
    rehearsal.script(
        {"pieces": ANSWER, "thought": "What does she like?", "delay": 0.2, "delay_between": 0.02},
        {"tool_calls": [CALL]},
        {"task": "any", "answer": json.dumps({"city": "Porto", "country": "Portugal"})},
        {"answer": f"It is {NUMBER}."},
    )
    probe = await attempt(rehearsal)
    assert probe.answer == "A quiet talk by the fire."
    assert 0.2 <= probe.first_piece_seconds < 5
    assert 1 < probe.tokens_per_second < 1000
    assert (probe.tools, probe.json, probe.pictures, probe.thinks) == (True, True, True, True)
    picture = rehearsal.requests()[-1]["messages"][-1]["content"][1]["image_url"]["url"]
    assert picture.startswith("data:image/png;base64,")


async def test_what_the_server_refuses_or_the_model_does_not_do_is_not_claimed(
    rehearsal: RehearsalServer,
) -> None:
    no_pictures = {"status": 500, "body": {"error": {"message": "image input is not supported"}}}
    rehearsal.script(
        {"pieces": ANSWER},
        {"refuses": ["tools"]},
        {"answer": "I cannot look anything up."},
        {"task": "any", "refuses": ["response_format"]},
        {"answer": "Porto, in Portugal."},
        {"error": no_pictures},
    )
    probe = await attempt(rehearsal)
    assert (probe.tools, probe.json, probe.pictures, probe.thinks) == (False, False, False, False)
    assert probe.context_tokens == 0


async def test_a_guess_at_the_picture_and_another_tool_do_not_count(rehearsal: RehearsalServer) -> None:
    rehearsal.script(
        {"pieces": ANSWER},
        {"tool_calls": [{"name": "look_up", "arguments": {"city": "Lisbon"}}]},
        {"task": "any", "answer": json.dumps({"town": "Porto"})},
        {"answer": "I see the number 42."},
    )
    probe = await attempt(rehearsal)
    assert (probe.tools, probe.json, probe.pictures) == (False, False, False)


async def test_what_could_not_be_found_out_is_left_open(rehearsal: RehearsalServer) -> None:
    limited = limit("Slow down.")
    rehearsal.script({"pieces": ANSWER}, limited, {"task": "any", **limited}, limited)
    probe = await attempt(rehearsal)
    assert probe.answer == "A quiet talk by the fire."
    assert (probe.tools, probe.json, probe.pictures) == (None, None, None)


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ({"error": {"status": 401}}, ProviderRefused),
        ({"pieces": ["A ", "word "], "cut_after": 1}, ProviderUnavailable),
        ({"answer": "", "thought": "Hm."}, EmptyAnswer),
    ],
)
async def test_a_model_that_says_nothing_whole_has_failed(
    rehearsal: RehearsalServer, step: dict[str, object], error: type[ProviderError]
) -> None:
    rehearsal.script(step)
    with pytest.raises(error):
        await attempt(rehearsal)
    assert len(rehearsal.ledger()) == 1  # nothing else was asked
