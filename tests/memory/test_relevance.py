"""What comes to mind by itself bears on the message, or does not come."""

from datetime import UTC, timedelta
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from django.apps import apps
from django.db import connection

from accounts.signup import create_account
from companions.models import Companion
from memory.embedding import embed_cue, embed_waiting
from memory.embedding.backlog import list_everyday_sentences, measure_everyday
from memory.embedding.spaces import find_serving_space, measure_everyday_likeness
from memory.models import Memory
from memory.recall.query import split_cue
from memory.recall.ranking import MAX_LIKELY
from memory.recall.recall import recall
from memory.recall.traits import Trait, is_small_talk, tells_nothing
from memory.scoring import CHOICES
from memory.store import keep_fact
from tests.fixtures.people import PASSWORD
from tests.fixtures.turns import make_companion
from tests.memory.conftest import DAY, Say

pytestmark = pytest.mark.django_db
NOW = DAY + timedelta(days=30)
SAID = (
    "Hey, nice to see you! How was your day?",
    "My sister Marta is a nurse in Porto.",
    "Thank you so much, that is really kind.",
    "I broke my left arm skiing when I was twelve.",
    "The weather was lovely, we walked along the beach.",
    "Tiago failed his chemistry exam again.",
    "I drink five cups of coffee a day.",
    "We adopted a cat and called it Minka.",
    "My rent went up to 900 euros.",
    "I want to run the marathon in October.",
)
SMALL_TALK = ["hey", "Thanks!", "mm, ok", "haha yes", "good night", "how are you?", "好的", "谢谢你", "😂"]
QUESTIONS = {
    "What does my sister do for a living?": "My sister Marta is a nurse in Porto.",
    "Did Tiago pass?": "Tiago failed his chemistry exam again.",
    "What is my cat called?": "We adopted a cat and called it Minka.",
    "How did I break my arm?": "I broke my left arm skiing when I was twelve.",
}


def tell(companion: Companion, say: Say) -> Companion:
    """Say those ten things on ten days; nothing is embedded yet."""
    for day, text in enumerate(SAID):
        say(companion, text, at=DAY + timedelta(days=day))
    return companion


@pytest.fixture(scope="module")
def embedded_once(module_rows: None, say: Say) -> Companion:
    companion = tell(make_companion(create_account("nina@example.org", PASSWORD)), say)
    embed_waiting(companion.pk)
    measure_everyday()
    return companion


@pytest.fixture
def embedded(db: None, embedded_once: Companion) -> Companion:
    """A companion that was told ten things, in a space whose everyday sentences are measured."""
    return Companion.objects.get(pk=embedded_once.pk)


def comes(companion: Companion, cue: str, *, words_alone: bool = False, **options: Any) -> list[str]:
    """What comes to mind by itself, best first."""
    parts = split_cue(cue)
    vector = None if words_alone else embed_cue(cue, parts=parts)
    found = recall(
        companion.pk, cue, 8, now=NOW, zone=UTC, vector=vector, by_itself=True, parts=parts, **options
    )
    return [one.memory.text for one in found]


@pytest.mark.parametrize("words_alone", [False, True])
@pytest.mark.parametrize("cue", SMALL_TALK)
def test_small_talk_brings_nothing_to_mind(embedded: Companion, cue: str, words_alone: bool) -> None:
    assert comes(embedded, cue, words_alone=words_alone) == []


@pytest.mark.parametrize(("cue", "answer"), QUESTIONS.items())
def test_a_question_brings_what_answers_it(embedded: Companion, cue: str, answer: str) -> None:
    assert comes(embedded, cue)[0] == answer


LONG = (
    "It was a long week, and the train to the office broke down twice. I bought new curtains for the kitchen. {}",
    "{} By the way, the plumber came at last and mended the tap. I shall paint the ceiling next.",
)


@pytest.mark.parametrize("words_alone", [False, True])
@pytest.mark.parametrize("message", LONG, ids=["last", "first"])
def test_a_question_in_a_long_message_brings_what_it_brings_alone(
    embedded: Companion, message: str, words_alone: bool
) -> None:
    for cue, answer in list(QUESTIONS.items())[1:]:
        assert answer in comes(embedded, message.format(cue), words_alone=words_alone), cue


def test_each_thing_that_a_message_is_about_brings_its_own_once(embedded: Companion) -> None:
    came = comes(
        embedded, "Minka caught a mouse today. Did Tiago pass? And what does my sister do for a living?"
    )
    assert {SAID[1], SAID[5], SAID[7]} <= set(came)
    assert len(came) == len(set(came))


@pytest.mark.parametrize(
    ("cue", "parts"),
    [
        ("Did Tiago pass?", []),
        ("Hey! How are you? Did Tiago pass?", []),
        ("Minka is ill. Did Tiago pass?", ["Minka is ill.", "Did Tiago pass?"]),
        ("米卡生病了。蒂亚戈考试过了吗？", ["米卡生病了。", "蒂亚戈考试过了吗？"]),
        ("Minka is ill. Minka is ill.", []),
        ("Just opened a beer. Lovely.", []),
        (" ".join(f"Tiago has {n} cats." for n in range(9)), [f"Tiago has {n} cats." for n in (0, 1, 7, 8)]),
    ],
)
def test_a_message_is_cut_into_what_it_is_about(cue: str, parts: list[str]) -> None:
    assert split_cue(cue) == parts


@pytest.mark.parametrize(
    "cue",
    [
        "When did Caroline paint the sunrise?",
        "Which bank did you rob in Toronto?",
        "Explain photosynthesis to me.",
    ],
)
def test_what_was_never_spoken_of_brings_little(embedded: Companion, cue: str) -> None:
    assert len(comes(embedded, cue)) <= MAX_LIKELY


def test_whoever_asks_memory_is_given_the_best_there_is(embedded: Companion) -> None:
    cue = "hey"
    found = recall(embedded.pk, cue, 8, now=NOW, zone=UTC, vector=embed_cue(cue))
    assert len(found) == 8
    assert "bearing" not in found[0].reasons


@pytest.mark.parametrize("policy", [name for name, _label in CHOICES])
def test_the_floor_is_the_same_for_every_policy(embedded: Companion, policy: str) -> None:
    Memory.objects.update(times_recalled=3)  # so that no policy has forgotten them
    for cue, answer in QUESTIONS.items():
        assert set(comes(embedded, cue, policy=policy)) <= set(comes(embedded, cue)), policy
        if policy in ("kith", "likeness"):
            assert answer in comes(embedded, cue, policy=policy)
    assert comes(embedded, "hey", policy=policy) == []


@pytest.mark.parametrize(
    ("said", "cue"),
    [
        ("Sunny is my dog, a lazy beagle.", "How is Sunny?"),
        ("My daughter Hope plays chess.", "Tell me about Hope."),
    ],
)
def test_a_name_says_something_though_it_is_a_word_as_well(
    embedded: Companion, say: Say, said: str, cue: str
) -> None:
    say(embedded, said)
    embed_waiting(embedded.pk)
    assert comes(embedded, cue)[0] == said


def test_what_only_asks_never_comes_by_itself(embedded: Companion, say: Say) -> None:
    say(embedded, "What is my cat called?", "Hm, what is my cat called?", at=DAY + timedelta(days=20))
    embed_waiting(embedded.pk)
    assert comes(embedded, "What is my cat called?") == ["We adopted a cat and called it Minka."]


@pytest.mark.parametrize(
    ("text", "nothing"),
    [
        ("Where did we go?", True),
        ("Mm, I see.", True),
        ("Ok! And who is that?", True),
        ("好的。你在哪里工作?", True),
        ("We went to Porto. Have you been there?", False),
        ("I am a nurse.", False),
        ("I hate mornings.", False),
        ("I love her.", False),
        ("And this is Hope.", False),
        ("我是护士。", False),
    ],
)
def test_questions_and_small_talk_tell_nothing(text: str, nothing: bool) -> None:
    assert tells_nothing(text) is nothing


def test_a_past_day_that_is_named_brings_what_was_said_on_it(embedded: Companion) -> None:
    assert "Tiago failed his chemistry exam again." in comes(embedded, "What did we talk about on 7 May?")
    assert comes(embedded, "So nice today!") == []


def test_each_says_how_much_it_bears_on_the_message(embedded: Companion) -> None:
    cue = "What is my cat called?"
    (first, *_) = recall(embedded.pk, cue, 8, now=NOW, zone=UTC, vector=embed_cue(cue), by_itself=True)
    assert 0.25 <= first.reasons["bearing"] <= 1


def test_with_two_memories_the_right_one_comes_as_well(mira: Companion) -> None:
    nut = keep_fact(mira.pk, "Alice is allergic to walnuts.", DAY, DAY)
    keep_fact(mira.pk, "Alice plays the cello.", DAY, DAY)
    assert comes(mira, "Are there walnuts in it?")[0] == nut.text


# -- everyday sentences


def test_everyday_sentences_are_near_to_no_cue_of_their_language_in_particular(embedded: Companion) -> None:
    space = find_serving_space()
    assert space
    assert len(bytes(space.everyday)) == len(list_everyday_sentences()) * space.width * 4
    english, chinese = embed_cue("What is my cat called?"), embed_cue("我的猫叫什么名字?")
    assert english
    assert chinese
    assert 0 < measure_everyday_likeness(english) < 0.2
    # The built-in embedder reads English: all Chinese is alike to it.
    assert 0.4 < measure_everyday_likeness(chinese) < 0.8


def test_every_language_has_enough_sentences_and_none_twice() -> None:
    for language, sentences in list_everyday_sentences().items():
        assert len(set(sentences)) == len(sentences) >= 10, language


@pytest.mark.parametrize("text", ["hey", "Good morning!", "嗯嗯", "thank you so much", "你在干嘛", ""])
def test_small_talk_is_told_from_words_that_say_something(text: str) -> None:
    assert is_small_talk(text)
    assert not is_small_talk(f"{text} Tiago")
    assert not is_small_talk(f"{text} 护士")


def test_the_vectors_of_the_floor_have_length_of_no_more_than_one(embedded: Companion) -> None:
    space = find_serving_space()
    assert space
    means = np.frombuffer(bytes(space.everyday), dtype="<f4").reshape(-1, space.width)
    assert (np.linalg.norm(means, axis=1) <= 1.0001).all()


def test_the_migration_marks_what_tells_nothing_and_may_run_twice(mira: Companion, say: Say) -> None:
    asks, tells = say(mira, "Where did we go?", "We went to Porto.")
    packed = {one.pk: bytes(one.entry) for one in Memory.objects.all()}
    bare = bytearray(packed[asks.pk])
    bare[11] &= ~Trait.TELLS_NOTHING & 0xFF
    Memory.objects.filter(pk=asks.pk).update(entry=bytes(bare))
    migration = import_module("memory.migrations.0010_what_tells_nothing")
    with connection.schema_editor() as editor:
        for _ in range(2):
            migration.mark_what_tells_nothing(apps, editor)
    assert {one.pk: bytes(one.entry) for one in Memory.objects.all()} == packed
    assert packed[asks.pk][11] & Trait.TELLS_NOTHING
    assert not packed[tells.pk][11] & Trait.TELLS_NOTHING
