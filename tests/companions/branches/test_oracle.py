"""Random walks over branches: what is known is what the path alone would have made, after every step.

An oracle keeps for each message what came after it, and makes what is known anew from the path; nothing in it undoes
anything. `make prove-branches` takes 100,000 steps.
"""

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from hypothesis import HealthCheck
from hypothesis import settings as make_settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from accounts.models import User
from companions.branches.operations import choose, choose_alternative, delete, fork, say_anew
from companions.life.inner_state import CALM
from companions.life.inner_state import revise as revise_state
from companions.life.timers import timers
from companions.models import Branch, Conversation, InnerState, Message, Reply, Session, Timer
from companions.models.companion import lock
from companions.replies import actions
from companions.replies.checkpoint import Said
from companions.replies.finish import finish
from companions.replies.lifecycle import claim as claim_reply
from companions.replies.lifecycle import hold_reply, process_name, start
from database.journal import everywhere
from memory.core_memory import delete_slot, set_slot
from memory.learning.diary import ClosedSession, Written, keep_entry
from memory.learning.revisions import add_revision, load_current
from memory.models import DiaryEntry, Memory, Revision, Slot
from memory.models.core_memory import By
from memory.store import keep_fact, retract
from tests.fixtures.turns import make_companion

pytestmark = pytest.mark.django_db
STEPS = int(os.environ.get("PROOF_STEPS", "0"))
STEPS_EACH = 30
WALKERS = 2  # of the proof, side by side
BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)
NAMES = st.sampled_from(["city", "cat", "tea"])
Step = tuple[str, str, str]


@dataclass
class World:
    """What is known, as the oracle makes it; `session` is that of the last message, by a number."""

    facts: set[str] = field(default_factory=set)
    slots: dict[str, str] = field(default_factory=dict)
    profile: str = ""
    feels: str = ""
    timers: set[str] = field(default_factory=set)
    diary: set[str] = field(default_factory=set)
    session: int = 0
    ended: set[int] = field(default_factory=set)

    @property
    def is_open(self) -> bool:
        return bool(self.session) and self.session not in self.ended

    def take(self, step: Step) -> None:
        what, name, value = step
        match what:
            case "fact":
                self.facts.add(value)
            case "close":
                self.facts.discard(value)
            case "slot":
                self.slots[name] = value
            case "unslot":
                self.slots.pop(name, None)
            case "profile":
                self.profile = value
            case "feel":
                self.feels = value
            case "timer":
                self.timers.add(value)
            case "cancel":
                self.timers.discard(value)
            case "end":
                self.diary.add(value)
                self.ended.add(int(name))


class Branching(RuleBasedStateMachine):
    user: User
    steps = 0  # of all walks

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.now = BEGIN
        self.companion = make_companion(self.user, greeting="")
        self.parents: dict[UUID, UUID | None] = {}
        self.after: dict[UUID, list[Step]] = {}
        self.told: dict[UUID, str] = {}
        self.sessions: dict[UUID, int] = {}  # in which session each was said
        self.head: UUID | None = None
        self.here: list[
            Step
        ] = []  # what was made at the end of the chosen branch, where others go on from its last message
        self.left: dict[UUID, list[Step]] = {}  # the same of the others
        self.held = World()  # what the person told, which holds on every branch

    def teardown(self) -> None:
        """Say how far a long proof is."""
        walked = type(self)
        walked.steps += STEPS_EACH
        if STEPS and walked.steps % 3_000 == 0:
            print(f"{walked.__name__}: {walked.steps:,} steps", file=sys.stderr, flush=True)  # noqa: T201

    # -- what the oracle knows

    def path(self) -> list[UUID]:
        return self.path_to(self.head)

    def path_to(self, id: UUID | None) -> list[UUID]:
        ids = []
        while id:
            ids.append(id)
            id = self.parents[id]
        return ids[::-1]

    def expected(self) -> World:
        return self.expected_at(self.head, self.here)

    def expected_at(self, head: UUID | None, here: Iterable[Step]) -> World:
        world = World(slots=dict(self.held.slots))
        for id in self.path_to(head):
            world.session = self.sessions[id]
            for step in self.after[id]:
                world.take(step)
        for step in here:
            world.take(step)
        world.facts |= self.held.facts
        return world

    def known(self) -> World:
        facts = Memory.objects.of(self.companion.pk).open().learnt()
        state = InnerState.objects.filter(companion=self.companion).order_by("-number").first()
        profile = load_current(self.companion.pk, Revision.About.USER_PROFILE)
        return World(
            facts=set(facts.values_list("text", flat=True)),
            slots=dict(Slot.objects.filter(companion=self.companion).values_list("name", "text")),
            profile=profile.text if profile else "",
            feels=state.text if state and state.by != InnerState.By.SEED else "",
            timers={timer.note for timer in Timer.objects.active().filter(companion=self.companion, name="")},
            diary=set(DiaryEntry.objects.filter(companion=self.companion).values_list("title", flat=True)),
        )

    @invariant()
    def what_is_known_follows_the_path(self) -> None:
        assert Conversation.objects.get(companion=self.companion).head_id == self.head
        said = Memory.objects.of(self.companion.pk).filter(kind=Memory.Kind.SAID)
        assert set(said.values_list("message", flat=True)) == set(self.path())
        assert set(Message.objects.filter(companion=self.companion).values_list("pk", flat=True)) == set(
            self.path()
        )
        known, expected = self.known(), self.expected()
        mine = Session.objects.filter(companion=self.companion)
        assert {frozenset(session.messages.values_list("pk", flat=True)) for session in mine} - {
            frozenset()
        } == {
            frozenset(id for id in self.path() if self.sessions[id] == number)
            for number in {self.sessions[id] for id in self.path()}
        }
        assert mine.filter(ended_at=None, messages__in=self.path()).exists() == expected.is_open
        expected.session, expected.ended = 0, set()
        assert known == expected

    # -- steps

    def word(self, kind: str) -> str:
        self.count += 1
        self.now += timedelta(minutes=1)
        return f"{kind} {self.count}"

    def keep(self, message: Message, steps: Iterable[Step] = ()) -> None:
        """Note that it was said where the talk is; what was made there before counts as made after it."""
        world = self.expected()
        assert message.parent_id == self.head
        self.sessions[message.pk] = world.session if world.is_open else self.count
        self.parents[message.pk] = message.parent_id
        self.told[message.pk] = message.role
        self.after[message.pk] = [*self.here, *steps]
        self.head, self.here = message.pk, []

    def go(self, target: UUID | None) -> None:
        """Note that the talk goes on from there, if it was left in this minute."""
        if left := Branch.objects.filter(companion=self.companion, left_at=self.now).first():
            self.left[left.pk] = self.here
            chosen = self.chosen()
            self.head, self.here = target, self.left.pop(chosen, []) if chosen else []

    def chosen(self) -> UUID | None:
        return Conversation.objects.get(companion=self.companion).branch_id

    def note(self, notes: str) -> Step:
        set_slot(self.companion.pk, "tea", notes, by=By.COMPANION, now=self.now)
        return ("slot", "tea", notes)

    def answer(self, reply: Reply, notes: str | None = None) -> None:
        """Let the reply end, as its process does; its tools set a slot before."""
        claim_reply(reply.pk, self.now)
        steps: list[Step] = []
        if notes:
            with transaction.atomic():
                hold_reply(reply)
                steps = [self.note(notes)]
        ended = finish(
            reply, Reply.State.DONE, Said(text=self.word("answer")), self.now, held_by=process_name()
        )
        assert ended
        assert ended.answer
        self.keep(ended.answer, steps)

    def pick(self, ids: Iterable[UUID], number: int) -> UUID:
        ordered = list(ids)
        return ordered[number % len(ordered)]

    def users(self) -> list[UUID]:
        return [id for id, role in self.told.items() if role == Message.Role.USER]

    def write(self, step: Step) -> None:
        assert self.head
        others = Branch.objects.filter(companion=self.companion, head=self.head).exclude(pk=self.chosen())
        is_followed = self.here or self.head in self.parents.values() or others.exists()
        (self.here if is_followed else self.after[self.head]).append(step)

    @rule(uses_tool=st.booleans())
    def say(self, uses_tool: bool) -> None:
        started = start(self.companion, self.word("line"), None, self.now)
        self.keep(started.message)
        self.answer(started.reply, self.word("note") if uses_tool else None)

    @precondition(lambda self: self.users())
    @rule(number=st.integers(0, 1000))
    def say_otherwise(self, number: int) -> None:
        message = Message.everywhere.get(pk=self.pick(self.users(), number))
        started = say_anew(message)(self.companion, self.word("line"), None, self.now, at_once=False)
        self.go(message.parent_id)
        self.keep(started.message)
        self.answer(started.reply)

    @precondition(lambda self: self.users())
    @rule(number=st.integers(0, 1000), fails=st.booleans(), uses_tool=st.booleans())
    def answer_again(self, number: int, fails: bool, uses_tool: bool) -> None:
        answered = {parent for id, parent in self.parents.items() if self.told[id] == Message.Role.ASSISTANT}
        on_path = [id for id in self.path() if id in answered or id == self.head]
        on_path = [id for id in on_path if self.told[id] == Message.Role.USER]
        if not on_path:
            return
        self.word("")
        message = Message.objects.get(pk=self.pick(on_path, number))
        reply = actions.retry(message.replies.order_by("-created_at").first(), self.now)  # type: ignore[arg-type]
        self.go(message.pk)
        notes = self.word("note") if uses_tool else None
        if not fails:
            self.answer(reply, notes)
            return
        claim_reply(reply.pk, self.now)
        if notes:
            self.write(self.note(notes))
        self.word("")
        finish(reply, Reply.State.FAILED, Said(code="x"), self.now, held_by=process_name())
        answers = [
            id for id, parent in self.parents.items() if parent == message.pk and self.told[id] == "assistant"
        ]
        newest = Message.everywhere.filter(pk__in=answers).order_by("-said_at", "-id").first()
        if newest:
            self.go(self.end_of(newest.pk))

    def end_of(self, id: UUID) -> UUID:
        while (
            following := Message.everywhere.filter(
                pk__in=[child for child, parent in self.parents.items() if parent == id]
            )
            .order_by("-said_at", "-id")
            .first()
        ):
            id = following.pk
        return id

    @precondition(lambda self: self.parents)
    @rule(number=st.integers(0, 1000))
    def part(self, number: int) -> None:
        self.word("")
        fork(self.companion, target := self.pick(self.parents, number), self.now)
        self.go(target)

    @precondition(lambda self: Branch.objects.filter(companion=self.companion).exists())
    @rule(number=st.integers(0, 1000))
    def choose_branch(self, number: int) -> None:
        self.word("")
        ids = (
            Branch.objects.filter(companion=self.companion)
            .order_by("made_at", "left_at")
            .values_list("pk", flat=True)
        )
        branch = Branch.objects.get(pk=self.pick(ids, number))
        choose(branch, self.now)
        self.go(branch.head_id)

    @precondition(lambda self: set(self.parents) - set(self.path()))
    @rule(number=st.integers(0, 1000))
    def choose_another(self, number: int) -> None:
        self.word("")
        path = set(self.path())
        id = self.pick([id for id in self.parents if id not in path], number)
        choose_alternative(Message.everywhere.get(pk=id), self.now)
        self.go(self.end_of(id))

    @rule(number=st.integers(0, 1000))
    def delete_branch(self, number: int) -> None:
        chosen = Conversation.objects.get(companion=self.companion).branch_id
        ids = (
            Branch.objects.filter(companion=self.companion)
            .order_by("made_at", "left_at")
            .exclude(pk=chosen)
            .values_list("pk", flat=True)
        )
        if ids:
            delete(Branch.objects.get(pk=(goes := self.pick(ids, number))), self.now)
            self.left.pop(goes, None)
            left = set(Message.everywhere.filter(companion=self.companion).values_list("pk", flat=True))
            for id in set(self.parents) - left:
                del self.parents[id], self.after[id], self.told[id]

    # -- what is derived

    @precondition(lambda self: self.head)
    @rule()
    def learn(self) -> None:
        self.write(("fact", "", text := self.word("fact")))
        keep_fact(self.companion.pk, text, self.now, self.now, [self.head] if self.head else [])

    @precondition(lambda self: self.head and self.expected().facts)
    @rule(number=st.integers(0, 1000))
    def take_back(self, number: int) -> None:
        texts = sorted(self.expected().facts - self.held.facts)
        if texts:
            text = texts[number % len(texts)]
            self.write(("close", "", text))
            retract(Memory.objects.of(self.companion.pk).get(text=text), self.now)

    @rule()
    def the_person_tells(self) -> None:
        self.held.facts.add(text := self.word("fact"))
        with everywhere():
            keep_fact(self.companion.pk, text, self.now, self.now)

    @rule(name=NAMES)
    def the_person_fills_a_slot(self, name: str) -> None:
        self.held.slots[name] = text = self.word("slot")
        for steps in (*self.after.values(), *self.left.values(), self.here):
            steps[:] = [step for step in steps if step[0] not in ("slot", "unslot") or step[1] != name]
        with everywhere():
            set_slot(self.companion.pk, name, text, by=By.USER, now=self.now)

    @precondition(lambda self: self.head)
    @rule(name=NAMES)
    def fill_slot(self, name: str) -> None:
        self.write(("slot", name, text := self.word("slot")))
        set_slot(self.companion.pk, name, text, by=By.COMPANION, now=self.now)

    @precondition(lambda self: self.head and self.expected().slots)
    @rule(number=st.integers(0, 1000))
    def empty_slot(self, number: int) -> None:
        names = sorted(self.expected().slots)
        self.write(("unslot", name := names[number % len(names)], ""))
        delete_slot(self.companion.pk, name, by=By.COMPANION)

    @precondition(lambda self: self.head)
    @rule()
    def understand(self) -> None:
        self.write(("profile", "", text := self.word("profile")))
        about = Revision.About.USER_PROFILE
        add_revision(self.companion.pk, about, [{"text": text, "sources": []}], Revision.By.CLOSING, self.now)

    @precondition(lambda self: self.head)
    @rule()
    def feel(self) -> None:
        self.write(("feel", "", text := self.word("feeling")))
        revise_state(self.companion.pk, text, CALM, by=InnerState.By.REFLECTION, now=self.now)

    @precondition(lambda self: self.head)
    @rule()
    def set_timer(self) -> None:
        self.write(("timer", "", text := self.word("timer")))
        by = Timer.By.COMPANION
        timers.set_timer(self.companion, "1d", text, by=by, now=self.now, is_asked_for=True)

    @precondition(lambda self: self.head and self.expected().timers)
    @rule(number=st.integers(0, 1000))
    def cancel_timer(self, number: int) -> None:
        notes = sorted(self.expected().timers)
        self.write(("cancel", "", note := notes[number % len(notes)]))
        timers.cancel(Timer.objects.get(companion=self.companion, note=note), self.now)

    @precondition(lambda self: self.head and self.expected().is_open)
    @rule()
    def end_session(self) -> None:
        self.write(("end", str(self.expected().session), title := self.word("day")))
        session = Session.objects.get(companion=self.companion, ended_at=None)
        written = Written(
            title=title,
            diary=[],
            emotion="neutral",
            intensity=0.0,
            self_concept=[],
            user_profile=[],
            call_id=None,
        )
        with transaction.atomic():
            lock(self.companion.pk)
            ended = ClosedSession(
                session_id=session.pk, started_at=self.now, ended_at=self.now, written=written
            )
            keep_entry(self.companion.pk, ended, self.now, UTC)
            session.ended_at, session.title = self.now, title
            session.save()


@pytest.mark.timeout(0 if STEPS else 600)
@pytest.mark.parametrize("walker", range(WALKERS if STEPS else 1))
def test_what_is_known_follows_the_path(alice: User, settings: Any, walker: int) -> None:
    settings.MESSAGES_PER_MINUTE = settings.COMPANIONS_EACH = 1_000_000
    machine = type(f"Walk{walker}", (Branching,), {"user": alice})
    walks = max(1, -(-STEPS // (STEPS_EACH * WALKERS))) if STEPS else 5
    run_state_machine_as_test(machine, settings=_walks(walks))


def _walks(count: int) -> make_settings:
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    return make_settings(
        max_examples=count,
        stateful_step_count=STEPS_EACH,
        deadline=None,
        derandomize=not STEPS,
        suppress_health_check=checks,
        print_blob=False,
    )
