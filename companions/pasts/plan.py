"""The plan of an import: the talks of a file as messages with a role, a time, a session and alternatives. Pure.

The same file with the same choice gives the same plan, so that an import that was stopped can go on by it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256

from companions.answers.emotion_tags import without_tags
from companions.moments import is_moment
from pasts.past import Past, PastMessage
from providers.tokens import estimate
from text.strings import one_line, shorten, storable

STEP = timedelta(minutes=1)  # between messages without a time
MIN_STEP = timedelta(microseconds=1)  # so that no message is said before the one that it follows
PAST_GAP = timedelta(days=1)  # between talks without times
SESSION_GAP = timedelta(hours=8)  # a silence after which a session ends
SESSION_MESSAGES = 200  # after which it ends even without one
NAME_CHARACTERS = 80
FIRST_MESSAGES = 4  # by which a talk without an id is identified
MIN_BRANCH_MESSAGES = 2  # a single alternative answer is shown at the chosen one, and needs no branch


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What to import of a file: the positions of its talks (empty: all), and the person if the file does not tell."""

    pasts: tuple[int, ...] = ()
    person: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedMessage:
    """A message as it will be saved. `key` identifies it whenever the same talk is imported again.

    `follows` is the key of the message before it, and `beside` that of the message on the chosen path to which it is an
    alternative. `is_dated` if the file tells its time. `session` is an index in the plan's sessions.
    """

    key: str
    follows: str | None
    beside: str | None
    is_chosen: bool
    role: str
    author: str
    text: str
    at: datetime
    is_dated: bool
    session: int


@dataclass(slots=True)
class PlannedSession:
    """A stretch of one talk, with an estimate of its chosen messages' tokens, and whether the person spoke in it."""

    started_at: datetime
    ended_at: datetime
    messages: int = 0
    tokens: int = 0
    has_person: bool = False

    def note(self, message: PlannedMessage) -> None:
        """Count a message of the chosen path."""
        self.ended_at = message.at
        self.messages += 1
        self.tokens += estimate(message.text)
        self.has_person = self.has_person or message.role == "user"


@dataclass(slots=True)
class Plan:
    """What the chosen talks become. In `messages`, the chosen path of each talk is followed by its alternatives."""

    titles: list[str] = field(default_factory=list)
    messages: list[PlannedMessage] = field(default_factory=list)
    sessions: list[PlannedSession] = field(default_factory=list)
    # The last messages of alternatives, by their keys, and how many messages each alternative has.
    leaves: list[tuple[str, int]] = field(default_factory=list)
    by_key: dict[str, PlannedMessage] = field(default_factory=dict, repr=False)
    characters: set[str] = field(default_factory=set)  # the speakers who are not the person
    shortened: int = 0
    empty: int = 0

    @property
    def alternatives(self) -> int:
        return sum(not message.is_chosen for message in self.messages)

    @property
    def undated(self) -> int:
        return sum(not message.is_dated for message in self.messages)

    @property
    def span(self) -> tuple[datetime, datetime] | None:
        """The times of the first and the last of the dated messages, or None if none is dated."""
        times = [message.at for message in self.messages if message.is_dated]
        return (min(times), max(times)) if times else None

    def batches(self, size: int) -> Iterator[list[PlannedMessage]]:
        for start in range(0, len(self.messages), size):
            yield self.messages[start : start + size]


def plan_messages(
    pasts: Sequence[Past], choice: Choice, *, before: datetime, now: datetime, most_characters: int
) -> Plan:
    """Return what the chosen talks become.

    Messages without a time are dated a minute apart, before the one that follows them. Talks without any time are
    placed before `before`.
    """
    plan = Plan()
    wanted = [past for place, past in enumerate(pasts) if not choice.pasts or place in choice.pasts]
    paths = [(past, _find_path(past)) for past in wanted]
    until = before
    placed: list[tuple[Past, list[PastMessage], list[datetime]]] = []
    for past, path in reversed(paths):  # of the talks without a time, the last one is the most recent
        times = spread_times([message.at for message in path], until, now)
        if path and not any(_is_known_time(message.at, now) for message in path):
            until = times[0] - PAST_GAP
        placed.append((past, path, times))
    placed.sort(key=lambda each: each[2][0] if each[2] else before)
    for past, path, times in placed:
        _PastPlan(plan, past, now, most_characters).add(path, times)
    return plan


def spread_times(given: Sequence[datetime | None], before: datetime, now: datetime) -> list[datetime]:
    """Return a time for each message of a path, none earlier than the one before it.

    A message without a time, or with one after `now`, is dated a minute before what follows it, or less if there is
    less room. After the last dated message, such messages follow it a minute apart, or less if there is less room
    until `now`. If none is dated, the last message is a minute before `before`.
    """
    times = [at if _is_known_time(at, now) else None for at in given]
    latest: datetime | None = None
    for place, at in enumerate(times):
        if at is not None:
            latest = times[place] = max(at, latest + MIN_STEP) if latest else at
    known = [place for place, at in enumerate(times) if at is not None]
    if not known:
        return [before - STEP * (len(times) - place) for place in range(len(times))]
    for first, last in zip([-1, *known], [*known, len(times)], strict=True):
        _fill(times, first, last, now)
    return [at for at in times if at is not None]


def _fill(times: list[datetime | None], first: int, last: int, now: datetime) -> None:
    """Fill in the times between the indexes `first` and `last`, which have a time or lie beyond the list's ends."""
    count = last - first - 1
    begin = times[first] if first >= 0 else None
    end = times[last] if last < len(times) else None
    if begin is None and end is not None:
        for place in range(first + 1, last):
            times[place] = end - STEP * (last - place)
    elif begin is not None:
        room = max((end or now) - begin, MIN_STEP)
        step = max(min(STEP, room / (count + 1)), MIN_STEP)
        base = begin if end is None else max(begin, end - step * (count + 1))
        for place in range(first + 1, last):
            times[place] = base + step * (place - first)


def _is_known_time(at: datetime | None, now: datetime) -> bool:
    return at is not None and is_moment(at) and at <= now


def _find_path(past: Past) -> list[PastMessage]:
    """Return the messages from the first to the chosen leaf, or to the last message if no leaf was chosen."""
    by_id = {message.id: message for message in past.messages}
    message = by_id.get(past.leaf or "") or (past.messages[-1] if past.messages else None)
    path: list[PastMessage] = []
    seen = set[str]()
    while message and message.id not in seen:
        seen.add(message.id)
        path.append(message)
        message = by_id.get(message.parent or "")
    return path[::-1]


@dataclass(slots=True)
class _PastPlan:
    """Adds one talk to the plan."""

    plan: Plan
    past: Past
    now: datetime
    most_characters: int
    name: str = ""
    # The keys of messages by their ids; for a message left out, the key of the one that it follows.
    keys: dict[str, str | None] = field(default_factory=dict)
    made: dict[str, PlannedMessage] = field(default_factory=dict)  # by key
    chosen_after: dict[str | None, str] = field(default_factory=dict)

    def add(self, path: Sequence[PastMessage], times: Sequence[datetime]) -> None:
        self.name = _name_past(self.past)
        self.plan.titles.append(one_line(self.past.title)[:NAME_CHARACTERS])
        on_path = {message.id for message in path}
        for message, at in zip(path, times, strict=True):
            self._add(message, at, is_chosen=True)
        ends: dict[str, int] = {}
        for message in self.past.messages:
            if message.id not in on_path:
                planned = self._add(message, None, is_chosen=False)
                if planned:
                    ends[planned.key] = ends.pop(planned.follows or "", 0) + 1
        self.plan.leaves += ends.items()

    def _add(self, message: PastMessage, at: datetime | None, *, is_chosen: bool) -> PlannedMessage | None:
        """Add the message and return it, or None if it is a duplicate or empty.

        What follows an empty message then follows the one before it.
        """
        follows = self.keys.get(message.parent or "")
        is_person = message.is_person
        text = storable(message.text)
        text = text if is_person else without_tags(text)
        if not text.strip():
            self.keys[message.id] = follows
            self.plan.empty += 1
            return None
        if len(text) > self.most_characters:
            text = shorten(text, self.most_characters)
            self.plan.shortened += 1
        key = self._make_key(message)
        if same := self.plan.by_key.get(key):  # the same talk is in the file twice
            self.keys[message.id] = key
            self.made[key] = same
            if is_chosen:
                self.chosen_after[follows] = key
            return None
        before = self.made.get(follows or "")
        if at is None:
            at = message.at if message.at and _is_known_time(message.at, self.now) else None
            beside = self.made.get(self.chosen_after.get(follows, ""))
            at = at or (beside.at if beside else before.at if before else self.now)
            at = max(at, before.at + MIN_STEP) if before else at
        planned = PlannedMessage(
            key=key,
            follows=follows,
            beside=None if is_chosen else self.chosen_after.get(follows),
            is_chosen=is_chosen,
            role="user" if is_person else "assistant",
            author=one_line(message.speaker)[:NAME_CHARACTERS],
            text=text,
            at=at,
            is_dated=_is_known_time(message.at, self.now),
            session=self._find_session(at, before, is_chosen=is_chosen),
        )
        self.keys[message.id] = key
        self.made[key] = self.plan.by_key[key] = planned
        if is_chosen:
            self.chosen_after[follows] = key
            self.plan.sessions[planned.session].note(planned)
        self.plan.messages.append(planned)
        if not is_person:
            self.plan.characters.add(planned.author)
        return planned

    def _find_session(self, at: datetime, before: PlannedMessage | None, *, is_chosen: bool) -> int:
        """Return the index of a message's session: a new one after SESSION_GAP of silence or SESSION_MESSAGES messages.

        An alternative belongs to the session of the message that it follows.
        """
        sessions = self.plan.sessions
        near = before or next(iter(self.made.values()), None)
        if near and not is_chosen:
            return near.session
        if before and at - before.at <= SESSION_GAP and sessions[before.session].messages < SESSION_MESSAGES:
            return before.session
        sessions.append(PlannedSession(at, at))
        return len(sessions) - 1

    def _make_key(self, message: PastMessage) -> str:
        told = "\x1f".join([self.name, message.id, message.speaker, message.text])
        return f"past-{sha256(told.encode('utf-8', 'replace')).hexdigest()[:40]}"


def _name_past(past: Past) -> str:
    """Return an id of the talk that stays the same when a file with more of it is imported later."""
    if past.id:
        return past.id
    first = past.messages[:FIRST_MESSAGES]
    told = "\x1f".join(f"{message.speaker}\x1e{message.text}\x1e{message.at}" for message in first)
    return sha256(told.encode("utf-8", "replace")).hexdigest()


def count_speakers(pasts: Sequence[Past]) -> Mapping[str, tuple[int, bool]]:
    """Return by each speaker's name the number of messages, and whether the file takes the speaker for the person."""
    counts: Counter[str] = Counter()
    persons: Counter[str] = Counter()
    for past in pasts:
        for message in past.messages:
            counts[message.speaker] += 1
            persons[message.speaker] += message.is_person
    return {name: (count, persons[name] * 2 > count) for name, count in counts.most_common()}
