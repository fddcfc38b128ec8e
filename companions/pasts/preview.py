"""A preview of what importing a file of earlier talk would do, in plain words, from the same plan as the import."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companions.models import Companion
from companions.models.past import PastForm
from companions.pasts.imports import choose_who, find_existing, plan_for
from companions.pasts.learning import NIGHTLY_TOKENS, LearningCost, estimate_cost
from companions.pasts.plan import MIN_BRANCH_MESSAGES, Choice, Plan, count_speakers
from pasts.past import Past, PastFile
from pasts.reader import REMARKS
from text.strings import one_line, shorten

PASTS_SHOWN = 500
FIRST_LINES, LINE_CHARACTERS = 4, 200
ASSISTANTS: dict[str, str] = {
    PastForm.CHATGPT: "ChatGPT",
    PastForm.CLAUDE: "Claude",
    PastForm.DEEPSEEK: "DeepSeek",
}
COUNTED = "times_missing"  # the remark that the plan makes itself, with the number of messages


@dataclass(frozen=True, slots=True)
class ShownSpeaker:
    """A speaker of the file: `name` is as in the file, `label` as it is shown."""

    name: str
    label: str
    messages: int
    is_person: bool


@dataclass(frozen=True, slots=True)
class ShownPast:
    """One talk of the file; `place` is its index in the file."""

    place: int
    title: str
    messages: int
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class ShownLine:
    author: str
    is_person: bool
    text: str


@dataclass(slots=True)
class PastPreview:
    """The preview, as a page or an answer of the API shows it. `name` is what a new companion would be called."""

    form: str
    talks: int  # in the file
    conversations: int  # chosen ones
    messages: int
    alternatives: int
    branches: int
    duplicates: int
    first_at: datetime | None  # of the dated messages; None if there are none
    last_at: datetime | None
    name: str
    speakers: list[ShownSpeaker]
    pasts: list[ShownPast]
    lines: list[ShownLine]
    cost: LearningCost
    nightly_tokens: int
    nights: int
    remarks: list[str] = field(default_factory=list)

    @property
    def tokens(self) -> str:
        """The tokens that learning would take, with commas between the thousands."""
        return f"{self.cost.tokens:,}"


def describe(
    read: PastFile,
    companion: Companion | None,
    choice: Choice,
    now: datetime,
    nightly_tokens: int = NIGHTLY_TOKENS,
) -> PastPreview:
    """Return the preview of importing the chosen talks into the companion, or into a new one for None.

    Raise PastError `no_such_speaker`.
    """
    read = choose_who(read, choice)
    plan = plan_for(companion, read, choice, now)
    existing = find_existing(companion.pk, None, plan.messages) if companion else {}
    labels = _label_speakers(read.form)
    speakers = [
        ShownSpeaker(name, labels.get(name, name), messages, is_person)
        for name, (messages, is_person) in count_speakers(read.pasts).items()
    ]
    first_at, last_at = plan.span or (None, None)
    cost = estimate_cost(plan)
    return PastPreview(
        form=name_form(read.form),
        talks=len(read.pasts),
        conversations=len(plan.titles),
        messages=len(plan.messages),
        alternatives=plan.alternatives,
        branches=sum(length >= MIN_BRANCH_MESSAGES for _key, length in plan.leaves),
        duplicates=len(existing),
        first_at=first_at,
        last_at=last_at,
        name=next((speaker.label for speaker in speakers if not speaker.is_person), ""),
        speakers=speakers,
        pasts=list(_list_pasts(read.pasts, choice)),
        lines=[
            ShownLine(
                labels.get(line.author, line.author), line.role == "user", shorten(line.text, LINE_CHARACTERS)
            )
            for line in plan.messages[:FIRST_LINES]
        ],
        cost=cost,
        nightly_tokens=nightly_tokens,
        nights=cost.count_nights(nightly_tokens),
        remarks=[
            *(str(REMARKS[code]) for code in read.remarks if code in REMARKS and code != COUNTED),
            *_list_remarks(plan),
        ],
    )


def name_form(form: str) -> str:
    """Return the name of a file's form for people."""
    return str(PastForm(form).label) if form in PastForm else form


def _label_speakers(form: str) -> dict[str, str]:
    """Return labels for the speakers, in forms whose files name only their roles."""
    if assistant := ASSISTANTS.get(form):
        return {"user": _("whoever asked"), "assistant": assistant}
    if form in {PastForm.OOBABOOGA, PastForm.RISUAI}:
        return {"user": _("whoever asked"), "assistant": ""}  # whose name is not in the file
    return {}


def _list_pasts(pasts: Sequence[Past], choice: Choice) -> Iterator[ShownPast]:
    for place, past in enumerate(pasts[:PASTS_SHOWN]):
        title = one_line(past.title) or _("Talk %(number)s") % {"number": place + 1}
        yield ShownPast(place, title, len(past.messages), not choice.pasts or place in choice.pasts)


def _list_remarks(plan: Plan) -> Iterator[str]:
    """Yield sentences on what the import changes or leaves out."""
    if plan.undated and plan.undated == len(plan.messages):
        yield _(
            "The file has no dates, so its messages get made-up ones: a minute apart, before everything that was said"
            " here."
        )
    elif plan.undated:
        yield ngettext(
            "%(count)d message has no date, so it gets a made-up one: a minute before what follows it.",
            "%(count)d messages have no date, so they get made-up ones: a minute apart, before what follows.",
            plan.undated,
        ) % {"count": plan.undated}
    if plan.empty:
        yield ngettext(
            "%(count)d message without text is left out.",
            "%(count)d messages without text are left out.",
            plan.empty,
        ) % {"count": plan.empty}
    if plan.shortened:
        yield ngettext(
            "%(count)d message is longer than a message here can be. Its end is left out.",
            "%(count)d messages are longer than a message here can be. Their ends are left out.",
            plan.shortened,
        ) % {"count": plan.shortened}
