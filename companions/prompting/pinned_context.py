"""What a prompt says of companion and user: what is always in mind, the inner state while it is fresh, and the session's
notes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, tzinfo
from uuid import UUID

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Q

from companions.life.inner_state import Feeling, get_feeling_now, get_newest
from companions.models import InnerState
from companions.prompting import budgets
from memory.emotion import Emotion
from memory.learning.revisions import load_holding, load_told_at
from memory.models import Block, Revision, Slot
from providers.tokens import beginning, estimate, keep_fitting
from text.dates import name_day
from text.strings import block, one_line, quoted

STALE_AFTER = timedelta(days=3)  # an inner state older than this is left out
TIGHT = 0.75  # above this pressure the model is warned, so that it saves what matters in time
JUST_NOW = timedelta(hours=1)
FAINT, STRONG = 0.35, 0.7  # intensities: below it "a little", above it "very"
GOOD, BAD = 0.25, -0.25  # valences beyond which a mood without an emotion has a name
STIRRED, CALM = 0.5, 0.2  # arousals
EMOTIONS = {
    Emotion.HAPPY: "happy",
    Emotion.SAD: "sad",
    Emotion.ANGRY: "angry",
    Emotion.THINK: "thoughtful",
    Emotion.SURPRISED: "surprised",
    Emotion.AWKWARD: "awkward",
    Emotion.QUESTION: "puzzled",
    Emotion.CURIOUS: "curious",
}
PARTS_OF_DAY = ((5, "night"), (12, "morning"), (18, "afternoon"), (24, "evening"))  # each until that hour


@dataclass(frozen=True, slots=True)
class PinnedText:
    """A slot, or a block with its description and its limit in characters (0 for a slot)."""

    name: str
    text: str
    changed_at: datetime
    description: str = ""
    most_characters: int = 0

    def render(self, zone: tzinfo, today: date | None) -> str:
        """Return the text as a line, which ends with the day on which it was last changed."""
        day = _render_day(self.changed_at, zone, today)
        if not self.most_characters:
            return f"- {one_line(self.name)}: {quoted(self.text)}{day}"
        full = f"{len(self.text)} of {self.most_characters} characters"
        about = f"; {one_line(self.description)}" if self.description else ""
        return f"- {one_line(self.name)} ({full}{about}): {quoted(self.text)}{day}"


@dataclass(frozen=True, slots=True)
class PinnedContext:
    """What a companion has always in mind, with the scratch of its session and the pressure on its context (a share).

    `told_at` is when each sentence of self-concept and profile was last told, if any message is known for it.
    `has_moved_on` if the talk has gone on since the inner state was written.
    `sources` are the ids of the messages that any of it comes from, and of the inner state itself.
    """

    self_concept: Sequence[str] = ()
    profile: Sequence[str] = ()
    told_at: Mapping[str, datetime] = field(default_factory=dict)
    slots: Sequence[PinnedText] = ()
    blocks: Sequence[PinnedText] = ()
    inner_state: InnerState | None = None
    scratch: str = ""
    pressure: float = 0.0
    has_moved_on: bool = False
    sources: frozenset[UUID] = field(default_factory=frozenset)

    @property
    def texts(self) -> list[str]:
        """The sentences and lines about the person and the companion: of self-concept, profile, slots and blocks."""
        lines = [line for pinned in (*self.slots, *self.blocks) for line in pinned.text.splitlines()]
        return [*self.self_concept, *self.profile, *filter(str.strip, lines)]


NOTHING_PINNED = PinnedContext()


def load_pinned_context(companion_id: UUID) -> PinnedContext:
    """Load what the companion always has in mind, without what belongs to a session. Stale revisions are left out."""
    source_ids = ArrayAgg("sources", filter=Q(sources__isnull=False), default=[])
    slots = list(Slot.objects.filter(companion=companion_id).annotate(source_ids=source_ids).order_by("name"))
    blocks = list(
        Block.objects.filter(companion=companion_id).annotate(source_ids=source_ids).order_by("name")
    )
    newest = Revision.objects.filter(companion=companion_id).order_by("about", "-number").distinct("about")
    sentences = {revision.about: load_holding(revision) for revision in newest if not revision.is_stale}
    self_concept = sentences.get(Revision.About.SELF_CONCEPT, [])
    profile = sentences.get(Revision.About.USER_PROFILE, [])
    inner_state = get_newest(companion_id)
    sources = {source for row in (*slots, *blocks) for source in getattr(row, "source_ids", ())}
    sources |= {UUID(str(id)) for said in (*self_concept, *profile) for id in said.get("sources") or ()}
    if inner_state:
        sources |= {inner_state.pk, *inner_state.seen}
    return PinnedContext(
        self_concept=[said["text"] for said in self_concept],
        profile=[said["text"] for said in profile],
        told_at=load_told_at(companion_id, [*self_concept, *profile]),
        slots=[PinnedText(slot.name, slot.text, slot.changed_at) for slot in slots],
        blocks=[
            PinnedText(row.name, row.text, row.changed_at, row.description, row.most_characters)
            for row in blocks
        ],
        inner_state=inner_state,
        sources=frozenset(sources),
    )


def render_pinned(pinned: PinnedContext, tokens: int, zone: tzinfo, today: date | None = None) -> str:
    """Return self-concept, profile, slots and blocks within so many tokens; equal arguments give an equal text.

    A line ends with the day, in the `zone`, on which it was last told or changed, so that "next week" can be counted;
    without a year if it is that of `today`.
    Each of the four has an equal share, and what one leaves unused goes to those after it. Within a share, the first
    sentences and the most recently changed slots and blocks take precedence; one that does not fit whole is skipped.
    Slots and blocks are ordered by name.
    """
    parts = {
        "self-concept": [_render_sentence(text, pinned, zone, today) for text in pinned.self_concept],
        "user-profile": [_render_sentence(text, pinned, zone, today) for text in pinned.profile],
    }
    for name, texts in (("slots", pinned.slots), ("blocks", pinned.blocks)):
        by_name = sorted(texts, key=lambda text: text.name)
        newest_first = sorted(by_name, key=lambda text: text.changed_at, reverse=True)
        parts[name] = [text.render(zone, today) for text in newest_first]
    rendered = []
    for shares, (name, lines) in zip((4, 3, 2, 1), parts.items(), strict=True):
        kept = keep_fitting(lines, tokens // shares, estimate)
        tokens -= sum(map(estimate, kept))
        rendered.append(block(name, sorted(kept) if name in ("slots", "blocks") else kept))
    return "\n\n".join(filter(None, rendered))


def _render_sentence(text: str, pinned: PinnedContext, zone: tzinfo, today: date | None) -> str:
    return f"- {quoted(text)}{_render_day(pinned.told_at.get(text), zone, today)}"


def _render_day(at: datetime | None, zone: tzinfo, today: date | None) -> str:
    return f" [{name_day(at.astimezone(zone).date(), today)}]" if at else ""


def render_inner_state(pinned: PinnedContext, now: datetime) -> list[str]:
    """Return lines on how the companion feels: its own words, within their share, since when, and its mood by now.

    Its words are left out if the talk has moved on since. There are no lines for the seeded state, which repeats the
    persona and whose joy nothing that is said would change, nor for one that is older than STALE_AFTER.
    """
    state = pinned.inner_state
    if state is None or state.by == InnerState.By.SEED or now - state.made_at > STALE_AFTER:
        return []
    lines = []
    if state.text and not pinned.has_moved_on:
        since = describe_since(state.made_at.astimezone(now.tzinfo), now)
        words = quoted(beginning(state.text, budgets.share(budgets.INNER_STATE)))
        lines.append(f"How you feel inside, {since}, in your own words: {words}")
    if mood := describe_feeling(get_feeling_now(state, now)):
        lines.append(f"Your mood by now: {mood}")
    return lines


def render_session_notes(pinned: PinnedContext) -> list[str]:
    """Return a warning if the context is nearly full, and the lines of the scratch that fit into their share of it.

    Newer lines take precedence; the lines keep their order.
    """
    lines = []
    if pinned.pressure > TIGHT:
        full = round(100 * min(pinned.pressure, 1))
        lines.append(
            f"The context is {full} % full: the oldest talk will soon be left out. Keep what matters now, by your tools."
        )
    scratch = [f"- {quoted(line)}" for line in reversed(pinned.scratch.splitlines()) if line.strip()]
    notes = keep_fitting(scratch, budgets.share(budgets.SESSION_NOTES), estimate)
    return [*lines, "Your notes of this talk:", *reversed(notes)] if notes else lines


def describe_feeling(feeling: Feeling) -> str:
    """Return the feeling in a few words, e.g. "a little sad, calm"; "" if it is too weak to mention."""
    words = []
    if name := EMOTIONS.get(feeling.emotion):
        degree = "a little " if feeling.intensity < FAINT else "very " if feeling.intensity > STRONG else ""
        words.append(degree + name)
    elif feeling.valence >= GOOD:
        words.append("in good spirits")
    elif feeling.valence <= BAD:
        words.append("downcast")
    if feeling.arousal >= STIRRED:
        words.append("stirred")
    elif words and feeling.arousal <= CALM:
        words.append("calm")
    return ", ".join(words)


def describe_since(at: datetime, now: datetime) -> str:
    """Return since when something lasts, e.g. "since yesterday evening".

    `at` must be less than a week before `now`, and in the same zone.
    """
    if now - at < JUST_NOW:
        return "since just now"
    part = next(name for until, name in PARTS_OF_DAY if at.hour < until)
    days = (now.date() - at.date()).days
    if days == 0:
        return f"since {'last' if part == 'night' else 'this'} {part}"
    if days == 1 and part != "night":
        return f"since yesterday {part}"
    day = at - timedelta(days=1) if part == "night" else at  # at 3 on Wednesday: "Tuesday night"
    return f"since {day:%A} {part}"
