"""A talk as it lies in the database once it was really had: messages in closed sessions, each with its memory."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

from django.db import connection, transaction

from accounts.models import User
from bench.common.past_files import chatgpt, sillytavern
from bench.recall.talk import Talk, Turn
from companions.conversations.messages import say_all
from companions.creation import create
from companions.models import Companion, Message, Session
from companions.pasts import imports
from companions.pasts.uploads import keep_upload, read_content_of
from memory.embedding.backlog import embed_in_turn
from tests.fixtures.clock import clock_at


@dataclass(frozen=True)
class Stored:
    """A talk, the companion that it was had with, and the turn that each of its messages was."""

    talk: Talk
    companion: Companion
    turns: dict[UUID, Turn]

    @property
    def names(self) -> dict[str, str]:
        """What the two speakers are called."""
        return {"user": self.companion.user.name, "companion": self.companion.name}


def store_all(talks: list[Talk], form: str = "") -> list[Stored]:
    """The talks, each with a new person of its own, embedded, and Postgres told what its tables hold.

    With a form they come as files of that form.
    """
    keep = partial(bring, form=form) if form else store
    stored = [keep(talk, person(f"speaker{n}", talk.user)) for n, talk in enumerate(talks)]
    embed_in_turn(seconds=float("inf"))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # autovacuum would within a minute
    return stored


def person(account: str, name: str) -> User:
    """A new person of that name, whose days are those of UTC."""
    return User.objects.create_user(f"{account}@example.org", name=name, time_zone="UTC")


@transaction.atomic
def store(talk: Talk, user: User) -> Stored:
    """The talk in a new companion of that person, recallable by its words, and by meaning once it is embedded."""
    began, now = talk.turns[0].at, talk.asked_at
    companion = create(user, name=talk.companion, persona="", greeting="", tint=40, now=began)
    turns: dict[UUID, Turn] = {}
    messages: list[Message] = []
    for said in talk.sessions:
        session = session_of(companion, said[0].at, said[-1].at)
        for turn in said:
            messages.append(message_of(session, messages[-1] if messages else None, turn))
            turns[messages[-1].pk] = turn
    say_all(companion, messages, now)
    companion.conversation.head = messages[-1]
    companion.conversation.save(update_fields=["head"])
    return Stored(talk, companion, turns)


def bring(talk: Talk, user: User, *, form: str) -> Stored:
    """The talk in a new companion, as it comes in by a file of SillyTavern's or ChatGPT's."""
    began, now = talk.turns[0].at, talk.asked_at
    companion = create(user, name=talk.companion, persona="", greeting="", tint=40, now=began)
    lines = [(turn.is_users, turn.text, turn.at) for turn in talk.turns]
    content = (
        chatgpt(lines)
        if form == "chatgpt"
        else sillytavern(lines, person=talk.user, character=talk.companion)
    )
    read = read_content_of(user, content, form=form)
    past = imports.begin(companion, keep_upload(user, content, form, "", now), read, imports.Wanted(), now)
    imports.run(past.pk, clock_at(now))
    said = Message.objects.filter(companion=companion).order_by("said_at", "id").values_list("pk", flat=True)
    kept = sorted(talk.turns, key=lambda turn: turn.at)
    companion = Companion.objects.select_related("user", "conversation").get(pk=companion.pk)
    return Stored(talk, companion, dict(zip(said, kept, strict=True)))


def session_of(companion: Companion, began: datetime, ended: datetime) -> Session:
    """A new session of the companion's conversation, over already."""
    conversation = companion.conversation
    return Session.objects.create(
        companion=companion, conversation=conversation, started_at=began, ended_at=ended
    )


def message_of(session: Session, parent: Message | None, turn: Turn) -> Message:
    """The turn as a message of that session, not yet saved."""
    companion = session.companion
    return Message(
        companion=companion,
        conversation=session.conversation,
        session=session,
        parent=parent,
        role=Message.Role.USER if turn.is_users else Message.Role.ASSISTANT,
        author=companion.user.name if turn.is_users else companion.name,
        text=turn.text,
        said_at=turn.at,
    )
