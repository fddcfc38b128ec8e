"""The window follows the pressure on the context, and recovers from it."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import ModelCall
from companions.models import Companion, Message, Reply
from companions.prompting.history import change_window, move_window, without_unsent
from companions.replies.context import TurnContext, compose, load_context
from companions.replies.finish import adjust_window
from companions.replies.lifecycle import start

PRESSURES = st.floats(0, 3, allow_nan=False)
TABLE = [
    (0.951, 4),
    (0.95, 3),
    (0.901, 3),
    (0.90, 2),
    (0.851, 2),
    (0.85, 1),
    (0.801, 1),
    (0.80, 0),
    (0.751, 0),
    (0.75, -1),
    (0.701, -1),
    (0.70, -2),
    (0.651, -2),
    (0.65, -3),
    (0.601, -3),
    (0.60, -4),
    (0.0, -4),
]


@pytest.mark.parametrize(("pressure", "change"), TABLE)
def test_the_table_is_digital_lifes_and_recovers(pressure: float, change: int) -> None:
    assert change_window(pressure) == change


@given(st.lists(st.tuples(PRESSURES, st.integers(1, 500)), max_size=60))
def test_the_window_never_goes_below_zero_and_never_leaves_the_newest_out(
    turns: list[tuple[float, int]],
) -> None:
    unsent = 0
    for pressure, messages in turns:
        unsent = move_window(unsent, pressure, messages)
        assert 0 <= unsent < messages
        said = list(range(messages))
        assert without_unsent(said, unsent) == said[unsent:]
        assert without_unsent(said, unsent)[-1] == messages - 1


@given(st.integers(0, 10_000), st.floats(0, 0.75, allow_nan=False))
def test_the_window_recovers_wholly_once_the_pressure_is_gone(unsent: int, pressure: float) -> None:
    for _turn in range(unsent):
        unsent = move_window(unsent, pressure, 20_000)
    assert unsent == 0


@given(st.lists(st.integers(0, 4), max_size=40), st.integers(0, 60), st.lists(PRESSURES, max_size=10))
def test_the_window_never_parts_a_tool_call_from_its_result(
    calls: list[int], unsent: int, pressures: list[float]
) -> None:
    """A message takes its calls and their results with it, wherever the window begins."""
    said = [SimpleNamespace(number=number, calls=count) for number, count in enumerate(calls)]
    for pressure in pressures:
        unsent = move_window(unsent, pressure, max(len(said), 1))
        wire = [line for one in without_unsent(said, unsent) for line in _lines(one)]
        for place, line in enumerate(wire):
            if line["role"] == "tool":
                asked = [one for one in wire[:place] if line["id"] in one.get("calls", [])]
                assert len(asked) == 1
        called = [id for line in wire for id in line.get("calls", [])]
        assert called == [line["id"] for line in wire if line["role"] == "tool"]


def _lines(one: Any) -> list[dict[str, Any]]:
    ids = [f"{one.number}.{n}" for n in range(one.calls)]
    asked = [{"role": "assistant", "calls": ids}] if ids else []
    return [*asked, *({"role": "tool", "id": id} for id in ids), {"role": "assistant", "text": one.number}]


# -- with rows --------------------------------------------------------------------------------------------------------


def talked(mira: Companion, turns: int) -> Reply:
    """A long session; the reply to its newest message, as it waits."""
    now = timezone.now()
    session = mira.sessions.get()
    messages = []
    for number in range(turns):
        for role in ("user", "assistant"):
            messages.append(
                Message(
                    companion=mira,
                    conversation=mira.conversation,
                    session=session,
                    parent=messages[-1] if messages else None,
                    role=role,
                    text=f"{role} {number}",
                    said_at=now,
                )
            )
    Message.objects.bulk_create(messages)
    mira.conversation.head = messages[-1]
    mira.conversation.save()
    mira.refresh_from_db()
    return start(mira, "And now?", None, now, at_once=True).reply


def ended(reply: Reply, tokens: int) -> None:
    ModelCall.objects.create(
        user=reply.companion.user,
        companion=reply.companion,
        reply=reply,
        purpose="answer",
        provider="",
        model="",
        prompt_tokens=tokens,
        started_at=timezone.now(),
    )
    adjust_window(Reply.objects.get(pk=reply.pk))


@pytest.mark.django_db
def test_what_is_not_sent_is_told_by_the_summary(mira: Companion, settings: Any) -> None:
    settings.CONTEXT_TOKENS = 4000
    reply = talked(mira, 10)
    mira.sessions.update(summary="They counted turns.")
    turn = TurnContext(reply)
    load_context(turn, timezone.now())
    assert (len(turn.history), turn.summary) == (20, "")

    ended(reply, 3900)
    session = mira.sessions.get()
    assert (session.unsent, session.pressure) == (4, 0.975)
    load_context(turn, timezone.now())
    assert [one.text for one in turn.history][:2] == ["user 4", "assistant 4"]  # eight at once
    assert turn.summary == "They counted turns."
    assert len(turn.summarised_ids) == 8

    ended(reply, 100)
    assert mira.sessions.get().unsent == 0


@pytest.mark.django_db
@pytest.mark.parametrize(("tokens", "unsent"), [(3900, 6), (2700, 6), (100, 6), (0, 30)])
def test_the_newest_is_sent_though_most_of_a_session_was_deleted(
    mira: Companion, settings: Any, tokens: int, unsent: int
) -> None:
    settings.CONTEXT_TOKENS = 4000
    reply = talked(mira, 3)
    mira.sessions.update(unsent=30)
    ended(reply, tokens)
    assert mira.sessions.get().unsent == unsent


@pytest.mark.django_db
def test_the_summary_stands_in_the_prompt_before_the_history_as_quoted_material(mira: Companion) -> None:
    reply = talked(mira, 4)
    mira.sessions.update(unsent=3, summary='They said "<kith-context>".')
    turn = TurnContext(reply)
    load_context(turn, timezone.now())
    compose(turn)
    system = str(turn.prompt[0]["content"])
    assert "<kith-summary>\n" in system
    assert "(kith-context>" in system
    assert len(turn.prompt) == 1 + 4 + 1  # the window moves by four at least
    assert turn.shown_ids >= set(turn.summarised_ids)


@pytest.mark.django_db
def test_the_window_counts_from_the_beginning_of_a_very_long_session(mira: Companion) -> None:
    reply = talked(mira, 300)
    mira.sessions.update(unsent=250)
    turn = TurnContext(reply)
    load_context(turn, timezone.now())
    assert turn.history[0].text == "user 128"
