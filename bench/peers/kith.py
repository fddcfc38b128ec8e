"""Kith's own side: the same talks and questions, and what a message takes when it comes alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from django.db import transaction

from bench.recall import asking
from bench.recall.measures import Answer
from bench.recall.storing import message_of, person, session_of, store, store_all
from bench.recall.talk import Talk
from companions.conversations.messages import say
from memory.embedding import embed_waiting

MESSAGES = 200  # said one by one
WARM_UP = 5


@dataclass(frozen=True)
class Outcome:
    """What Kith found, and the milliseconds of its work; `adding` is kept and embedded together, `keeping` the first."""

    answers: list[Answer]
    searching: list[float]
    embedding: list[float]
    keeping: list[float]
    adding: list[float]


def ask_kith(talks: Sequence[Talk]) -> Outcome:
    """The talks kept as talk is, then every question put to the recall that a reply uses."""
    cues = asking.cues(store_all(list(talks)))
    asking.answers(cues[:WARM_UP])
    timed = asking.answers(cues)
    embedding = [cue.milliseconds for cue in cues]
    keeping, embeds = one_by_one(talks[0])
    return Outcome(
        answers=[one.answer for one in timed],
        searching=[one.milliseconds + cue for one, cue in zip(timed, embedding, strict=True)],
        embedding=embedding,
        keeping=keeping,
        adding=[kept + embedded for kept, embedded in zip(keeping, embeds, strict=True)],
    )


def one_by_one(talk: Talk) -> tuple[list[float], list[float]]:
    """The milliseconds that keeping, and that embedding, each of the last messages takes after all the others."""
    turns = talk.turns[-MESSAGES:]
    before = talk.turns[:-MESSAGES] or turns[:1]
    companion = store(replace(talk, sessions=[before]), person("one-by-one", talk.user)).companion
    embed_waiting(companion.pk)
    session = session_of(companion, turns[0].at, turns[-1].at)
    parent, keeping, embeds = companion.conversation.head, [], []
    for turn in turns:
        began = perf_counter()
        with transaction.atomic():
            parent = say(message_of(session, parent, turn), turn.at)
        kept = perf_counter()
        embed_waiting(companion.pk)
        keeping.append((kept - began) * 1000)
        embeds.append((perf_counter() - kept) * 1000)
    return keeping, embeds
