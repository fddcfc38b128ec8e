"""One long talk with a companion over the REST API, and what its prompts held."""

import json
import random
from dataclasses import dataclass, field
from datetime import UTC
from itertools import chain
from typing import Any

import httpx2
from django.db import connection, transaction

from accounts.models import Token, User
from bench.talk.subjects import Line, Question, Subject
from companions.conversations.messages import say_all
from companions.creation import create
from companions.models import Companion, Message, Prompt, Session
from memory.embedding import embed_waiting
from memory.embedding.backlog import measure_everyday
from providers.tokens import estimate

BEFORE_THE_FIRST = 20
BETWEEN = 3
EMBEDDED_EVERY = 10  # turns: a worker would do so within seconds
COMPARED_CHARACTERS = 60  # of a line's beginning, by which it is found again in a prompt
MOST = 1_000_000


@dataclass(frozen=True)
class Known:
    """A subject as a companion that was told all of it, and the way in."""

    subject: Subject
    companion: Companion
    token: str


@dataclass(frozen=True)
class Asked:
    """A question that was asked in the talk.

    `share` of its evidence stands in the prompt; `ranks` are those of the evidence among what was remembered, from 1;
    `found` is the share that the recall operation finds among its first ten.
    """

    share: float
    ranks: list[int]
    parts: int
    shown: int
    tokens: int
    found: float = 0.0


@dataclass
class Told:
    """What the prompts of one talk held: how many memories each small remark and each stranger's question showed."""

    subject: Subject
    first: list[Asked] = field(default_factory=list)
    second: list[Asked] = field(default_factory=list)
    remarks: list[int] = field(default_factory=list)
    remark_tokens: list[int] = field(default_factory=list)
    others: list[int] = field(default_factory=list)


def store(subject: Subject) -> Known:
    """The subject's lines in ended sessions of a new companion, embedded."""
    with transaction.atomic():
        user = User.objects.create_user(
            f"{Companion.objects.count()}@example.org",
            name=subject.user,
            time_zone="UTC",
            messages_per_minute=MOST,
            tokens_per_day=2_000 * MOST,
        )
        _, token = Token.objects.issue(user, "bench")
        began = subject.sessions[0][0].at
        companion = create(user, name=subject.companion, persona="", greeting="", tint=40, now=began)
        messages: list[Message] = []
        for lines in subject.sessions:
            session = Session.objects.create(
                companion=companion,
                conversation=companion.conversation,
                started_at=lines[0].at,
                ended_at=lines[-1].at,
            )
            for line in lines:
                messages.append(_message(session, messages[-1] if messages else None, line))
        say_all(companion, messages, messages[-1].said_at)
        companion.conversation.head = messages[-1]
        companion.conversation.save(update_fields=["head"])
    embed_waiting(companion.pk)
    measure_everyday()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # autovacuum would within a minute
    return Known(subject, companion, token)


def _message(session: Session, parent: Message | None, line: Line) -> Message:
    companion = session.companion
    return Message(
        companion=companion,
        conversation=session.conversation,
        session=session,
        parent=parent,
        role=Message.Role.USER if line.is_users else Message.Role.ASSISTANT,
        author=companion.user.name if line.is_users else companion.name,
        text=line.text,
        said_at=line.at.astimezone(UTC),
    )


def talk(port: int, known: Known, *, is_long: bool = False) -> Told:
    """The whole talk with one companion; called from a thread of its own."""
    try:
        return Talker(port, known, is_long=is_long).talk()
    finally:
        connection.close()


class Talker:
    """Somebody who talks with a companion at a port of this machine."""

    def __init__(self, port: int, known: Known, *, is_long: bool) -> None:
        self._known, self._is_long, self._chance = known, is_long, random.Random(known.subject.user)
        self._api = httpx2.Client(
            base_url=f"http://127.0.0.1:{port}/api/v1/companions/{known.companion.pk}",
            headers={"Authorization": f"Bearer {known.token}"},
            timeout=120,
        )
        self._told = Told(known.subject)
        self._turns = 0
        remarks = known.subject.remarks
        random.Random(known.subject.name).shuffle(remarks)
        self._remarks = chain.from_iterable(iter(lambda: remarks, None))

    def talk(self) -> Told:
        """Say and ask all; what the prompts held."""
        subject, told = self._known.subject, self._told
        self._remark(BEFORE_THE_FIRST)
        for answers in (told.first, told.second):
            for question in subject.questions:
                answers.append(self._ask(question))
                self._remark(BETWEEN)
        for text in subject.others_questions:
            told.others.append(self._say(self._lengthen(text))[1])
        return told

    def _ask(self, question: Question) -> Asked:
        found = self._post("/recall", {"cue": question.text, "limit": 10})["results"]
        texts = {one["text"] for one in found}
        prompt, shown = self._say(self._lengthen(question.text))
        lines = _remembered(prompt)
        held = [one for one in question.evidence if _stands_in(one, prompt)]
        ranks = [
            n
            for n, line in enumerate(lines, start=1)
            if any(_begins(one) in line for one in question.evidence)
        ]
        return Asked(
            share=len(held) / len(question.evidence),
            ranks=ranks,
            parts=len(question.evidence),
            shown=shown,
            tokens=estimate("\n".join(lines)),
            found=len(question.evidence & texts) / len(question.evidence),
        )

    def _lengthen(self, question: str) -> str:
        """The question, in a long message behind two things that the companion was never told."""
        before = self._chance.sample(self._known.subject.others_lines, 2) if self._is_long else []
        return "\n".join([*before, question])

    def _remark(self, times: int) -> None:
        for _ in range(times):
            prompt, shown = self._say(next(self._remarks))
            self._told.remarks.append(shown)
            self._told.remark_tokens.append(estimate("\n".join(_remembered(prompt))))

    def _say(self, text: str) -> tuple[list[dict[str, Any]], int]:
        """The prompt as sent for that message, and how many memories it showed."""
        reply = self._post("/messages", {"text": text})["reply"]
        if reply["state"] != "done":
            raise SystemExit(f"{text!r}: the reply is {reply['state']}")
        self._turns += 1
        if self._turns % EMBEDDED_EVERY == 0:
            embed_waiting(self._known.companion.pk)
        prompt = Prompt.objects.get(reply=reply["id"], round=1).messages
        return prompt, len(_remembered(prompt))

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        response = self._api.post(path, json=body)
        if response.is_error:
            raise SystemExit(f"{path}: {response.status_code} {response.text[:500]}")
        return response.json()


def _remembered(prompt: list[dict[str, Any]]) -> list[str]:
    """The lines of what was remembered for the last message."""
    block = str(prompt[-1]["content"]).partition("Remembered:\n")[2].partition("</kith-context>")[0]
    return block.splitlines()


def _stands_in(text: str, prompt: list[dict[str, Any]]) -> bool:
    """Whether the line stands among what was remembered, or in the talk as sent."""
    remembered = _begins(text) in "\n".join(_remembered(prompt))
    return remembered or any(text[:COMPARED_CHARACTERS] in str(one["content"]) for one in prompt[1:-1])


def _begins(text: str) -> str:
    """The line's beginning as a prompt quotes it."""
    return json.dumps(text[:COMPARED_CHARACTERS], ensure_ascii=False)[:-1]
