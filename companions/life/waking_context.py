"""A waking on its way: whose it is, what its prompt holds, and that it is still this worker's."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import transaction

from accounts.usage import Payer
from companions.locks import lock
from companions.models import Companion, Message, Waking
from companions.prompting.turn_prompt import Line
from jobs.lease import Lease
from memory.recall.recall import Found


class LostOwnershipError(Exception):
    """The waking is not this worker's any more: another has taken it over, or it was ended or deleted."""


@dataclass(slots=True)
class WakingContext:
    """A companion that acts in a waking, as tools see it. No talk goes into its prompt."""

    waking: Waking
    companion: Companion
    lease: Lease
    history: list[Message] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)
    prompt: list[Line] = field(default_factory=list)
    shown: set[UUID] = field(default_factory=set)
    mood: float = 0.0
    call_id: int | None = None

    message: None = None
    reply_id: None = None

    @property
    def causes(self) -> list[Message]:
        """The message in answer to which its timer was set."""
        timer = self.waking.timer
        return [timer.message] if timer and timer.message else []

    @property
    def note(self) -> str:
        """What it woke for; nothing where that quotes what may not be told any more."""
        return "" if self.waking.has_lost_subject else self.waking.note

    @property
    def given(self) -> list[UUID]:
        return []

    @property
    def payer(self) -> Payer:
        return Payer(self.companion.user_id, self.companion.pk)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Run one transaction under `hold`."""
        until = self.lease.until
        try:
            with transaction.atomic():
                self.hold()
                yield
        except BaseException:
            self.lease.until = until  # what was written is undone, the renewed lease too
            raise

    def hold(self) -> None:
        """Keep what is said to the companion, and deleted, as it is until the transaction ends; LostOwnershipError."""
        lock(self.companion.pk)
        mine = self.lease.held_row.select_for_update()  # nobody takes it over until all is written
        if not mine.values_list("pk"):
            raise LostOwnershipError

    def write(self, **fields: Any) -> None:
        """Set these fields of the waking, which stays this worker's for as long again; LostOwnershipError."""
        if not self.lease.renew(**fields):
            raise LostOwnershipError
        for name, value in fields.items():
            setattr(self.waking, name, value)
