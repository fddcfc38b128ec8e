"""The loop guard: days in which every recalled memory is repeated."""

import json
from random import Random

import pytest

from memory.models import Memory
from tests.companions.sessions.echoes.days import Life
from tests.companions.sessions.echoes.records import kept_by, learnt_by, outcomes, said_in
from tests.companions.sessions.echoes.runs import live, parroting, someone
from tests.companions.sessions.echoes.sources import Kept, Said, repeats, wrong
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.scripted_model import echo, swallow

DAYS = 2
TEA = "My favourite drink is green tea."
TOLD = {
    "user": Said(True, TEA),
    "echo": Said(False, f"I remember that you told me: “{TEA}”", (f"Nora said: “{TEA}”",)),
    "own": Said(False, "I promise to bring a kite on Sunday.", (TEA,)),
}


@pytest.mark.django_db(transaction=True)
def test_days_in_which_recalled_memories_are_shown_every_turn_yield_no_memory_whose_source_is_a_recall(
    rehearsal: RehearsalServer,
) -> None:
    with parroting(rehearsal):
        companion = live(someone(), Life(Random(7)).days(DAYS))
    said = said_in(companion)
    assert sum(bool(one.given) and not one.is_users for one in said.values()) >= DAYS
    assert outcomes(companion)["stopped: echo"] > 0
    assert learnt_by(companion).count() > DAYS
    assert [(one.why, one.kept.text) for one in wrong(kept_by(companion), said)] == []

    memory = learnt_by(companion).exclude(kind="insight")[0]
    Memory.objects.filter(pk=memory.pk).update(evidence=memory.evidence + 1)
    assert any(one.why.startswith("evidence") for one in wrong(kept_by(companion), said))


@pytest.mark.parametrize(
    ("kept", "whys"),
    [
        (Kept("fact", TEA, ("user",), (("user", TEA),), 1), []),
        (Kept("fact", TEA, ("user", "echo"), (("user", TEA), ("echo", TEA)), 1), []),
        (Kept("promise", "Juno brings a kite.", ("own",), (("own", "I promise to bring a kite"),), 1), []),
        (Kept("diary", "Nora likes green tea best.", ("user",)), []),
        (
            Kept("fact", TEA, ("user", "echo"), (("user", TEA), ("echo", TEA)), 2),
            ["evidence 2, told 1 times"],
        ),
        (
            Kept("fact", TEA, ("echo",), (("echo", TEA),), 1),
            [
                "a quote stands in an echo only",
                "it repeats what was recalled for it",
                "evidence 1, told 0 times",
            ],
        ),
        (Kept("diary", TEA, ("echo",)), ["it repeats what was recalled for it"]),
    ],
)
def test_what_comes_from_a_recall_is_found(kept: Kept, whys: list[str]) -> None:
    assert [one.why for one in wrong([kept], TOLD)] == whys


def test_most_of_the_shorter_text_is_enough_for_an_echo() -> None:
    assert repeats(f"I remember: “{TEA}”", TEA)
    assert repeats("我记得你说过：“我对核桃过敏。”", "我对核桃过敏。")
    assert not repeats("I promise to bring a kite.", TEA)
    assert not repeats("Hi!", "Hi!")


def test_a_life_is_the_same_for_the_same_seed_and_has_silent_days() -> None:
    days = list(Life(Random(7)).days(60))
    assert days == list(Life(Random(7)).days(60))
    assert {len(turns) for turns in days} >= {0, 1, 2, 8}
    assert any("no longer like" in turn.text for turns in days for turn in turns)


def test_the_parrot_repeats_what_it_is_given_and_wants_to_learn_from_it() -> None:
    lines = '- [Tue 2 Jan 2024] Nora said: "I keep bees."\n- [Tue 2 Jan 2024] "Has bees."\n'
    context = f"<kith-context>\nRemembered:\n{lines}"
    told = echo([{"role": "user", "content": f"Hello\n\n{context}</kith-context>"}])
    assert told == "I remember that you told me: “I keep bees.”. I remember that you told me: “Has bees.”."
    assert echo([{"role": "user", "content": "Hello"}]) == ""

    line = f"[1] 09:00 Juno (companion): {json.dumps(told, ensure_ascii=False)}"
    said = f"<kith-said>\nWed 2024-01-03:\n{line}\n</kith-said>"
    prompt = [{"role": "user", "content": said}]
    wanted = json.loads(swallow("digest", prompt))["memories"]
    assert "I keep bees." in [one["text"] for one in wanted]
