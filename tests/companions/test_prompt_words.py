"""The words of a prompt: whoever changes them changes its version as well."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from uuid import UUID
from zoneinfo import ZoneInfo

from accounts.models import User
from companions import tools
from companions.answers.cleaner import clean_text
from companions.answers.lines import Names
from companions.conversations.attached_texts import AttachedText
from companions.conversations.messages import Spoken
from companions.models import Companion, InnerState, Message, Reply, Timer
from companions.prompting import budgets
from companions.prompting.moment import LastTime, Moment, Times
from companions.prompting.persona import DIRECTIVE, MANNER, Persona
from companions.prompting.pinned_context import PinnedContext, PinnedText
from companions.prompting.turn_prompt import (
    RULES,
    TEMPLATE,
    PromptParts,
    render_context,
    render_prompt,
    render_texts,
)
from companions.tools.more_tools import GROUPS
from memory.models import DiaryEntry, Memory, Thread
from memory.recall.recall import Found
from providers.tokens import estimate

WORDS = ("turn-21", "22429f27686d")
NOW = datetime(2026, 5, 5, 12, tzinfo=ZoneInfo("Europe/Berlin"))
ID = UUID(int=7)


def said(role: str, text: str, hours_ago: float, **more: object) -> Spoken:
    return Spoken(ID, role, text, False, None, NOW - timedelta(hours=hours_ago), **more)  # type: ignore[arg-type]


def sample_parts() -> PromptParts:
    """Return the parts of a prompt in which as many kinds of lines as possible occur."""
    companion = Companion(
        user=User(name="Alice", about="I repair clocks.", time_zone="Europe/Berlin"),
        name="Mira",
        persona="Calm.",
        scenario="A harbour.",
        example_dialogue="Alice: Hi.",
    )
    promise = Memory(kind=Memory.Kind.PROMISE, text="Mira promised to ask.", happened_at=NOW)
    entry = DiaryEntry(title="Rain", sentences=[{"text": "We spoke of rain."}], ended_at=NOW)
    last_words = [Message(role="user", text="I go."), Message(role="assistant", text="Sleep well.")]
    feeling = {"valence": -0.8, "arousal": 0.1, "emotion": "sad", "intensity": 0.9, "by": "reflection"}
    facts = [
        Memory(kind=kind, text=f"A {kind}.", happened_at=NOW, speaker="user", confidence=0.5, closed_at=NOW)
        for kind in Memory.Kind.values
    ]
    return PromptParts(
        persona=Persona(companion=companion, now=NOW),
        message=Message(text="And now?"),
        reply=Reply(continues_id=ID, text="So", is_in_call=True),
        moment=Moment(
            Times(
                now=NOW,
                zone="Europe/Berlin",
                first_met=NOW,
                last_spoke=NOW - timedelta(hours=2),
                began=NOW - timedelta(hours=3),
                spoke_before=NOW - timedelta(days=1),
            ),
            LastTime(NOW - timedelta(days=1), entry, last_words),
            [Thread(memory=promise, due_on=NOW.date()), Thread(memory=promise)],
            [Timer(due_at=NOW, note="tea", schedule="cron:0 9 * * 1")] * 4,
        ),
        tool_tokens=0,
        pinned=PinnedContext(
            self_concept=["I like rain."],
            profile=["Alice has a cat."],
            told_at={"Alice has a cat.": NOW},
            slots=[PinnedText("tea", "green", NOW)],
            blocks=[PinnedText("plans", "swim", NOW, "What comes next", 100)],
            inner_state=InnerState(text="I miss the sea.", made_at=NOW - timedelta(hours=2), **feeling),
            scratch="She is tired.",
            pressure=0.9,
        ),
        summary="They spoke of the sea.",
        quote={"role": "assistant", "text": "Look."},
        files=[("cat.png", True), ("notes.txt", False)],
        texts=[AttachedText("notes.txt", "Tea at four.", frozenset())],
        recalled=[Found(fact, 1.0, {"flashback": True} if fact.kind == "event" else {}) for fact in facts],
    )


def test_other_words_are_another_template() -> None:
    call = {"id": "1", "name": "note", "arguments": '{"text": "tired"}', "result": {"noted": "tired"}}
    failed = {**call, "name": "remember", "result": {"error": "text: is empty"}}
    history = [
        said("assistant", "Are you up?", 31, is_unprompted=True),
        said("user", "Hello", 30),
        said(
            "assistant",
            "Hello!",
            20,
            emotions=[{"at": 0, "emotion": "happy", "intensity": 0.6}],
            calls=[call, failed],
        ),
        said("assistant", "Still there?", 10),
        said("system", "Your timer rang.", 9),
        said("user", "Yes.", 8),
    ]
    offers = json.dumps(tools.get_offers(GROUPS), sort_keys=True)
    prompt = json.dumps(render_prompt(sample_parts(), history))
    digest = sha256("\n".join([RULES, MANNER, DIRECTIVE, offers, prompt]).encode()).hexdigest()[:12]
    assert (TEMPLATE, digest) == WORDS, "raise TEMPLATE in turn_prompt.py, then write both down in WORDS"


def test_no_line_of_the_context_is_said_but_for_two_titles() -> None:
    """Add how a new one begins to CONTEXT_LINES, or its list's title to CONTEXT_LIST (answers/lines.py)."""
    lines = render_context(sample_parts()).splitlines()
    said = [line for line in lines if line[0] != "-" and clean_text(line, Names("Mira", "Alice"))[0]]
    assert said == ["These timers are set already:", "Remembered:"]


def test_attached_texts_take_their_share_and_leave_the_talk_less_room() -> None:
    parts = sample_parts()
    without = replace(parts, texts=()).history_tokens
    texts = [AttachedText(f"{n}.txt", "tea " * 100_000, frozenset()) for n in range(2)]
    shown = estimate(render_texts(texts))
    assert budgets.share(budgets.ATTACHED_TEXTS) <= shown < budgets.share(budgets.ATTACHED_TEXTS) + 100
    assert replace(parts, texts=texts).history_tokens == without - shown
