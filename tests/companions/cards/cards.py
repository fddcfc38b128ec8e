"""Companions made of cards, and their prompts as they were sent: what a test is about is written out there."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from django.db.models import Max

from accounts.models import User
from cards.reader import ReadCard
from cards.schema import normalise
from companions.lore.editing import make_book
from companions.lore.turn import get_entry_id
from companions.models import Companion, LoreEntry, Message, Prompt, Reply
from companions.transfer.card_import import keep_upload, make_companion
from tests.companions.tools.conftest import NOW, end, turn_of

Line = Mapping[str, Any]


def read(data: Mapping[str, Any]) -> ReadCard:
    card, remarks = normalise({"spec": "chara_card_v3", "spec_version": "3.0", "data": data})
    return ReadCard("json", "3", card, None, [], remarks)


def made(
    user: User,
    *lore: Mapping[str, Any],
    book: Mapping[str, Any] | None = None,
    greeting: int = 0,
    **data: Any,
) -> Companion:
    """Mira, of a card with these fields and, where there is lore, a lorebook of it."""
    if lore:
        data["character_book"] = {"entries": list(lore), "extensions": {}, **(book or {})}
    upload = keep_upload(user, read({"name": "Mira", **data}), b"", NOW)
    return make_companion(upload, NOW, greeting=greeting)


def add_persons_book(user: User, *lore: Mapping[str, Any]) -> None:
    book = normalise({"spec": "lorebook_v3", "data": {"entries": list(lore)}})[0]["data"]
    make_book(user, book, NOW)


def entry(content: str, *keys: str, **fields: Any) -> dict[str, Any]:
    """An entry that the word dragon calls for, or these keys; `extensions` are SillyTavern's fields."""
    written = {"keys": list(keys or ["dragon"]), "content": content, "insertion_order": 10, "enabled": True}
    return {**written, "use_regex": False, "extensions": {}, **fields}


class Sent:
    """The prompt of one reply as it was sent, and what its trace tells of lore."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.lines: list[Line] = Prompt.objects.get(reply=reply, round=1).messages
        self.system = str(self.lines[0]["content"])
        self.talk = [(line["role"], str(line["content"])) for line in self.lines[1:]]
        self.last = self.talk[-1][1]
        self.text = "\n\n".join(str(line["content"]) for line in self.lines)
        self.persona = self._block(self.system, "persona")
        self.examples = self._block(self.system, "examples")
        asked = self.last.partition("</kith-context>")[2]
        self.instructions, self.directive = self._block(asked, "persona"), self._block(asked, "directive")
        lore = Reply.objects.get(pk=reply.pk).lore
        # Why each entry came in, and why each other one that was called did not, by its text in the book.
        self.placed = {self._content(one): one["reason"]["code"] for one in lore.get("placed", ())}
        self.dropped = {self._content(one): one["code"] for one in lore.get("dropped", ())}

    @staticmethod
    def _block(text: str, name: str) -> str:
        return text.partition(f"<kith-{name}>\n")[2].partition(f"\n</kith-{name}>")[0]

    def _content(self, traced: Mapping[str, Any]) -> str:
        content = str(LoreEntry.objects.get(pk=get_entry_id(traced["entry"])).data["content"])
        return content.splitlines()[-1]


def ask(companion: Companion, *texts: str, answer: str = "Well.", now: datetime | None = None) -> Sent:
    """What was sent for the last of these messages, each of which is answered, a minute apart from `now` on."""
    companion = Companion.objects.select_related("user").get(pk=companion.pk)
    for text in texts:
        at = now or next_minute(companion)
        turn = turn_of(companion, text, at)
        end(turn, answer, at + timedelta(seconds=30))
        now = at + timedelta(minutes=1)
    return Sent(turn.reply)


def next_minute(companion: Companion) -> datetime:
    """After all that was said."""
    last = Message.objects.filter(companion=companion).aggregate(at=Max("said_at"))["at"]
    return max(last or NOW, NOW) + timedelta(minutes=1)


def alternates(lines: Sequence[Line]) -> bool:
    """Whether no two neighbours are of one role, but for calls of tools and what they gave."""
    plain = [line["role"] for line in lines if line["role"] != "tool" and not line.get("tool_calls")]
    return all(one != next_one for one, next_one in pairwise(plain))
