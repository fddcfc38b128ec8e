"""A person's days as if lived: each thing is said at its time, and by night beat finds that nobody speaks any more."""

from datetime import UTC, datetime, timedelta
from itertools import chain

from django.db import transaction

from accounts.models import User
from bench.ten_days.reading import Day, Person
from companions.conversations.messages import open_session, say_all
from companions.creation import create
from companions.models import Companion, Conversation, Message
from companions.sessions import closing, digests, requests
from memory.embedding import embed_waiting
from tests.fixtures.clock import clock_at

MORNING = timedelta(hours=9)
TURN = timedelta(minutes=1)
ANSWERED = timedelta(seconds=20)
NIGHT = timedelta(hours=20)


def live(person: Person) -> Companion:
    """The companion that has lived through all days of the person."""
    first = _morning(person.days[0])
    user, _ = User.objects.get_or_create(
        email=f"{person.name.encode().hex()}@example.org", defaults={"name": person.name}
    )
    companion = create(user, name="Juno", persona="", greeting="", tint=40, now=first)
    for day in person.days:
        _talk(companion, day)
        work(_morning(day) + NIGHT)
        embed_waiting(companion.pk)
    return companion


def work(now: datetime) -> None:
    """All that beat finds to do."""
    for session_id in digests.find_due(now):
        digests.run(session_id, clock_at(now))
    requests.close_silent(now)
    for closing_id in closing.find_due(now):
        closing.run(closing_id, clock_at(now))


def work_again(companion: Companion, now: datetime) -> None:
    """Every job once more, whether it is due or not."""
    for closing_id in companion.closings.values_list("pk", flat=True):
        closing.run(closing_id, clock_at(now))
    for session_id in companion.sessions.values_list("pk", flat=True):
        digests.run(session_id, clock_at(now))
    work(now)
    work(now + timedelta(days=1))


def _morning(day: Day) -> datetime:
    return datetime.fromisoformat(day.on).replace(tzinfo=UTC) + MORNING


@transaction.atomic
def _talk(companion: Companion, day: Day) -> None:
    conversation = Conversation.objects.get(companion=companion)
    began = _morning(day)
    session = open_session(conversation, began)
    messages: list[Message] = []
    for number, text in enumerate(chain.from_iterable(day.exchanges)):
        role, author = (("user", companion.user.name), ("assistant", companion.name))[number % 2]
        message = Message(
            companion=companion,
            conversation=conversation,
            session=session,
            parent_id=messages[-1].pk if messages else conversation.head_id,
            role=role,
            author=author,
            text=text,
            said_at=began + number // 2 * TURN + number % 2 * ANSWERED,
        )
        messages.append(message)
    say_all(companion, messages, began)
    Conversation.objects.filter(pk=conversation.pk).update(head=messages[-1])
