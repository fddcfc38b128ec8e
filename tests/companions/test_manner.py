"""How a companion picks its words: its preset, its own values over it, and the installation's without either."""

from datetime import UTC, datetime
from typing import Any

import pytest

from accounts.models import User
from companions.errors import MindError
from companions.minds.presets import load_presets
from companions.minds.sampling import PARAMETERS, check_sampling
from companions.models import Companion, Mind
from jobs.background import in_thread
from providers.chat.sampling import MAX_OWN_STOPS, MAX_STOPS, Sampling
from tests.companions.life.waking import ran, woken
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.turns import connected

NOON = datetime(2026, 5, 5, 10, tzinfo=UTC)
DREAMY = load_presets("en")["dreamy"].sampling


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("web")
async def test_a_turn_is_asked_for_by_the_preset_and_the_values_over_it(
    alice: User, mira: Companion, rehearsal: RehearsalServer, settings: Any
) -> None:
    async def ask(number: int) -> dict[str, Any]:
        async with connected(alice, mira) as socket:
            await socket.send("message.send", text=f"Question {number}?", client_id=str(number))
            await socket.until("reply.done", seconds=20)
        return rehearsal.requests()[-1]

    usual = Sampling.for_talk([]).as_fields()
    assert (await ask(1))["temperature"] == usual["temperature"] != DREAMY["temperature"]
    own = {"temperature": 0.25, "max_tokens": 50, "stop": ["###"], "seed": 0}
    await in_thread(lambda: Mind.objects.create(companion=mira, preset="dreamy", sampling=own))
    sent = await ask(2)
    assert (sent["temperature"], sent["max_tokens"], sent["seed"]) == (0.25, 50, 0)
    assert (sent["min_p"], sent["frequency_penalty"]) == (DREAMY["min_p"], DREAMY["frequency_penalty"])
    assert sent["stop"][:2] == ["\nAlice:", "###"]


@pytest.mark.django_db
def test_a_waking_is_asked_for_by_the_preset(mira: Companion, rehearsal: RehearsalServer) -> None:
    Mind.objects.create(companion=mira, preset="dreamy")
    ran(woken(mira, NOON), NOON)
    (sent,) = rehearsal.requests()
    assert (sent["temperature"], sent["min_p"]) == (DREAMY["temperature"], DREAMY["min_p"])


def test_kiths_own_bounds_hold_whatever_was_chosen(settings: Any) -> None:
    settings.ANSWER_TOKENS = 300
    chosen = {"max_tokens": 5000, "stop": ["a", "b"]}
    sampling = Sampling.for_talk(["Alice"], chosen)
    assert sampling.max_tokens == 300
    assert len(sampling.stop) == MAX_STOPS
    assert sampling.stop[:3] == ("\nAlice:", "a", "b")


@pytest.mark.parametrize(
    "values",
    [
        *({name: parameter.least - 1} for name, parameter in PARAMETERS.items()),
        *({name: parameter.most + 1} for name, parameter in PARAMETERS.items()),
        {"temperature": float("nan")},
        {"temperature": float("inf")},
        {"temperature": "hot"},
        {"temperature": True},
        {"temperature": 10**400},
        {"top_k": 1.5},
        {"seed": [1]},
        {"stop": "###"},
        {"stop": [""]},
        {"stop": ["#" * 41]},
        {"stop": ["\x00"]},
        {"stop": [1]},
        {"stop": ["#"] * (MAX_OWN_STOPS + 1)},
        {"mirostat": 1},
    ],
    ids=str,
)
def test_what_will_not_do_is_refused_by_its_name(values: dict[str, Any]) -> None:
    with pytest.raises(MindError) as refused:
        check_sampling(values)
    assert refused.value.field == next(iter(values))
    assert str(refused.value.detail)


@pytest.mark.parametrize("end", ["least", "most"])
def test_the_ends_of_a_range_will_do(end: str) -> None:
    values = {name: getattr(parameter, end) for name, parameter in PARAMETERS.items()}
    assert check_sampling({**values, "stop": [], "temperature": None}) == {
        name: value for name, value in values.items() if name != "temperature"
    }


def test_presets_have_names_and_the_same_values_in_both_languages() -> None:
    english, chinese = load_presets("en"), load_presets("zh-hans")
    assert list(english) == list(chinese)
    assert all(english[slug].sampling == chinese[slug].sampling for slug in english)
    assert all(chinese[slug].name != preset.name and preset.line for slug, preset in english.items())
    assert load_presets("fr") == english
