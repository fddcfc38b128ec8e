"""How far the ending of the open session has come, as its person sees it."""

from dataclasses import dataclass

from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companions.models import Closing, Companion, Message, Session
from providers.errors import OUTAGES

STEPS = 3  # of closing a session: requested, under way, drafted
PROBLEMS = {
    **dict.fromkeys(OUTAGES, gettext_lazy("The model could not be reached.")),
    "provider_refused": gettext_lazy("The model refused to answer."),
    "answer_unfinished": gettext_lazy("The model did not finish its answer."),
    "malformed_answer": gettext_lazy("The model's answer could not be read."),
}


def describe_error(code: str) -> str:
    """Return in a sentence why work in the background failed."""
    return str(PROBLEMS.get(code) or _("Something went wrong on Kith's side."))


@dataclass(frozen=True, slots=True)
class Ending:
    """The open session (if any), whether the user has said anything in it, and its newest closing."""

    session: Session | None
    is_spoken: bool
    closing: Closing | None

    @property
    def is_under_way(self) -> bool:
        return self.closing is not None and self.closing.state == Closing.State.WAITING

    @property
    def has_failed(self) -> bool:
        """Whether the last attempt failed; it waits for a retry or for a new request."""
        return self.closing is not None and bool(self.closing.error)

    @property
    def can_end(self) -> bool:
        """Whether the user has said something in the open session, and no closing is under way."""
        return self.is_spoken and not self.is_under_way

    @property
    def step(self) -> int:
        """The progress of the closing, from 1 to STEPS."""
        if self.closing is None or not self.closing.is_begun:
            return 1
        return STEPS if self.closing.drafts else 2

    @property
    def problem(self) -> str:
        """Why the last attempt failed, in a sentence; empty if it did not."""
        return describe_error(self.closing.error) if self.closing and self.closing.error else ""


def load_ending(companion: Companion) -> Ending:
    """Return the state of closing the open session. Runs at most two queries."""
    by_user = Message.objects.filter(session=OuterRef("pk"), role=Message.Role.USER)
    mine = Session.objects.filter(companion=companion, ended_at=None)
    # First, and only of an open session: one that ends meanwhile is not shown as open and done at once.
    closing = Closing.objects.filter(session__in=mine).order_by("-asked_at").first()
    session = mine.annotate(is_spoken=Exists(by_user)).first()
    if session is None:
        return Ending(None, is_spoken=False, closing=None)
    is_its = closing is not None and closing.session_id == session.pk
    return Ending(session, session.is_spoken, closing if is_its else None)  # type: ignore[attr-defined]
