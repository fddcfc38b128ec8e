"""A companion that wakes: its wakings as a tick makes them, run in the time that a test gives."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from companions.conversations.messages import open_session
from companions.conversations.messages import say as keep
from companions.life import outreach
from companions.life.wakings.waking import run
from companions.models import Companion, Message, Timer, Waking
from tests.companions.talking import say
from tests.fixtures.clock import clock_at

NOON = datetime(2046, 5, 4, 10, tzinfo=UTC)  # after all that the rows themselves say of when they were made


def woken(companion: Companion, now: datetime, note: str = "to drink water", **fields: Any) -> Waking:
    """A waking that is due, of a timer that was asked for unless the fields say otherwise."""
    is_asked_for, name = fields.pop("is_asked_for", True), fields.pop("name", "")
    told = {"schedule": fields.pop("schedule", "30s"), "message": fields.pop("message", None)}
    if name:
        timer = Timer.objects.get(companion=companion, name=name)
    else:
        timer = Timer.objects.create(
            companion=companion,
            note=note,
            by=Timer.By.COMPANION,
            is_asked_for=is_asked_for,
            state=Timer.State.ENDED,
            created_at=now - timedelta(minutes=1),
            **told,
        )
    given = {"origin": Waking.Origin.TIMER, "due_at": now, "timer": timer, **fields}
    return Waking.objects.create(
        companion=companion, note=note, is_asked_for=is_asked_for, look_at=now, created_at=now, **given
    )


def ran(waking: Waking, now: datetime) -> Waking:
    """The waking after a run."""
    run(waking.pk, clock_at(now))
    return as_it_is(waking.pk)


def as_it_is(waking_id: UUID) -> Waking:
    return Waking.objects.get(pk=waking_id)


def unprompted(companion: Companion) -> list[str]:
    """What the companion has said in wakings."""
    return list(
        Message.objects.filter(companion=companion, waking__isnull=False)
        .order_by("said_at")
        .values_list("text", flat=True)
    )


def let_speak(companion: Companion) -> None:
    """The person wants it to write first, at any hour."""
    companion.life.reaches_out, companion.life.quiet_until = True, companion.life.quiet_from
    companion.life.save()


def calling(*calls: tuple[str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A step of the rehearsal model's script, in which it calls these tools in a waking."""
    wire = [{"id": f"c{n}", "name": name, "arguments": given} for n, (name, given) in enumerate(calls)]
    return {"tool_calls": wire, "when": "<kith-waking>", **more}


__all__ = ["as_it_is", "calling", "let_speak", "ran", "say", "unprompted", "woken"]


def send_due_deliveries(now: datetime) -> int:
    """Send what is due to everybody, as the sweep and its tasks do; how many were sent."""
    return sum(outreach.send_due_deliveries(now, user_id) for user_id in outreach.find_recipients(now))


def wrote(companion: Companion, text: str, at: datetime = NOON) -> Message:
    """What the companion said in a waking, on its way."""
    waking = Waking.objects.create(companion=companion, origin="timer", due_at=at, created_at=at)
    session = open_session(companion.conversation, at)
    message = Message(
        companion=companion, conversation=companion.conversation, session=session, role="assistant", text=text,
        said_at=at, waking=waking,
    )  # fmt: skip
    keep(message, at)
    outreach.deliver(message, at)
    return message
