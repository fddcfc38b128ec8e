"""Imports of pasts: begun by a user, then saved in batches by a worker. An import that was killed resumes without
duplicates when it is run again.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from uuid import UUID, uuid5

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from companions.archives.limits import estimate_bytes, require_storage
from companions.conversations.messages import say_all
from companions.errors import CompanionsError
from companions.models import Companion, Job, Message, PastImport, PastUpload, Session
from companions.models.companion import hold
from companions.pasts.log_import import require_room
from companions.pasts.placement import make_branches, weave_in
from companions.pasts.plan import Choice, Plan, PlannedMessage, plan_messages
from companions.pasts.uploads import PastImportError, read_file
from database.journal import everywhere
from database.queries import lift_statement_timeout
from files.errors import FilesError
from jobs.background import enqueue
from jobs.lease import Clock, Lease, note_failures
from memory.forgotten import ForgottenStatements, load_forgotten
from memory.models import Memory
from pasts.past import PastFile
from pasts.reader import choose_person

log = structlog.get_logger(__name__)

BATCH = 2_000  # messages in one transaction
SWEEP = 200
LEASE_TIME = timedelta(minutes=10)  # longer than one batch, or reading the file, may take
IMPORT_TASK = "companions.tasks.import_past"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a user wants of a file: the talks, the person among the speakers, and the tokens a night to learn with.

    Nothing is learnt if `nightly_tokens` is None.
    """

    choice: Choice = field(default_factory=Choice)
    pattern: str = ""
    nightly_tokens: int | None = None


def choose_who(read: PastFile, choice: Choice) -> PastFile:
    """Return the file with the chosen speaker, if any, as the person; raise PastError `no_such_speaker` if unknown."""
    return choose_person(read, choice.person) if choice.person else read


def plan_for(companion: Companion | None, read: PastFile, choice: Choice, now: datetime) -> Plan:
    """Return what the file would become in `companion`, or in a new one if None; raise PastError `no_such_speaker`."""
    return _plan(read, choice, find_beginning(companion, now), now)


def find_beginning(companion: Companion | None, now: datetime) -> datetime:
    """Return when the companion's first message was said, or `now` if there is none."""
    said = Message.everywhere.filter(companion=companion) if companion else Message.everywhere.none()
    return said.order_by("said_at").values_list("said_at", flat=True).first() or now


def _plan(read: PastFile, choice: Choice, before: datetime, now: datetime) -> Plan:
    most = settings.MESSAGE_CHARACTERS
    pasts = choose_who(read, choice).pasts
    return plan_messages(pasts, choice, before=before, now=now, most_characters=most)


@transaction.atomic
def begin(
    companion: Companion, upload: PastUpload, read: PastFile, wanted: Wanted, now: datetime
) -> PastImport:
    """Save an import, enqueue its task unless all messages are there already, and return it. The upload is deleted.

    Raise PastImportError, PastError or LimitError.
    """
    held = hold(companion.pk)
    if held is None:
        raise PastImportError("no_such_companion", _("You have no such companion."), 404)
    if not PastUpload.objects.select_for_update().filter(pk=upload.pk).exists():
        raise PastImportError(
            "no_such_past",
            _("This file has already been used, or has been removed in the meantime. Send it again."),
        )
    plan = plan_for(held, read, wanted.choice, now)
    if not plan.messages:
        raise PastImportError("nothing_said", _("Nobody says anything in what you chose."))
    existing = find_existing(held.pk, None, plan.messages)
    new = len(plan.messages) - len(existing)
    require_room(held, new)
    _require_storage(held, (message for message in plan.messages if message.key not in existing))
    first_at, last_at = plan.span or (None, None)
    learns = wanted.nightly_tokens is not None and new > 0
    past = PastImport.objects.create(
        companion=held,
        job=Job.objects.create(companion=held, kind=Job.Kind.IMPORT_PAST, total=new),
        file=upload.file,
        form=read.form,
        titles=plan.titles,
        chosen=list(wanted.choice.pasts),
        person=wanted.choice.person,
        pattern=wanted.pattern,
        before_at=find_beginning(held, now),
        messages_count=new,
        skipped_count=len(existing),
        first_at=first_at,
        last_at=last_at,
        learning=PastImport.Learning.RUNNING if learns else PastImport.Learning.NONE,
        nightly_tokens=wanted.nightly_tokens or 0,
        asked_at=now if learns else None,
        created_at=now,
    )
    PastUpload.objects.filter(pk=upload.pk).delete()
    if new:
        upload.file.companion = held
        upload.file.save(update_fields=["companion"])
        enqueue(IMPORT_TASK, str(past.pk))
    else:  # the companion has all messages already
        past.state, past.ended_at, past.file = PastImport.State.DONE, now, None
        past.save(update_fields=["state", "ended_at", "file"])
        upload.file.delete()
    return past


def _require_storage(companion: Companion, messages: Iterable[PlannedMessage]) -> None:
    """Raise LimitError if the messages would take more storage than the companion's user has left."""
    require_storage(companion.user, estimate_bytes(message.text for message in messages))


def find_due(state: PastImport.State, now: datetime) -> list[UUID]:
    """Return the ids of the first SWEEP imports in that state that no worker holds and whose next try is due."""
    due = PastImport.objects.filter(Q(look_at=None) | Q(look_at__lte=now), state=state)
    return list(due.order_by("created_at").values_list("pk", flat=True)[:SWEEP])


def run(import_id: UUID, clock: Clock, batch: int = BATCH) -> None:
    """Go on with the import if it is due, `batch` messages in a transaction. A failure is noted and retried later."""
    now = clock()
    row = PastImport.objects.filter(pk=import_id, state=PastImport.State.WAITING)
    lease = Lease.take(row, "look_at", clock, LEASE_TIME)
    if lease is None:
        return
    with note_failures(lease, partial(_note_failure, lease)):
        try:
            _go_on(lease, now, batch)
        except (FilesError, CompanionsError) as error:
            # the file is lost or cannot be read, or no room is left for it
            _note_failure(lease, error.code)


def _go_on(lease: Lease, now: datetime, size: int) -> None:
    past = lease.held_row.select_related("file__user", "companion__user").get()
    read = read_file(past.file, past.pattern)
    choice = Choice(pasts=tuple(past.chosen), person=past.person)
    plan = _plan(read, choice, past.before_at, past.created_at)
    is_begun = Message.everywhere.filter(job=past.job_id).exists()
    if not is_begun:  # since it was requested, other imports may have taken the room
        existing = find_existing(past.companion_id, past.job_id, plan.messages)
        _require_storage(past.companion, (each for each in plan.messages if each.key not in existing))
    places: dict[str, UUID] = {}
    for batch in plan.batches(size):
        if not lease.renew() or not _save(past, plan, batch, places, now):
            return
    _finish(past, plan, places, now)


@everywhere()
def _save(
    past: PastImport, plan: Plan, batch: Sequence[PlannedMessage], places: dict[str, UUID], now: datetime
) -> bool:
    """Save the missing messages of the batch, woven into the talk, and add all ids to `places` by their keys.

    Return False if the import or its companion is gone meanwhile, or the import is being undone.
    """
    lift_statement_timeout()
    companion = hold(past.companion_id)
    if companion is None or not _is_wanted(past):
        return False
    places |= find_existing(companion.pk, past.job_id, batch)
    new = [planned for planned in batch if planned.key not in places]
    sessions = _make_sessions(companion, past, plan, {planned.session for planned in new})
    make = partial(_make_message, companion, past, plan, sessions, places, load_forgotten(companion.pk))
    chosen = sorted((planned for planned in new if planned.is_chosen), key=lambda planned: planned.at)
    _save_chosen(companion, [make(planned) for planned in chosen], now)
    _save_others(
        companion, [(make(planned), planned) for planned in new if not planned.is_chosen], places, now
    )
    return True


def _save_chosen(companion: Companion, messages: Sequence[Message], now: datetime) -> None:
    """Save the messages, each after the one before it, and weave them into the talk."""
    for earlier, later in pairwise(messages):
        later.parent = earlier
    _say(companion, messages, now)
    weave_in(companion.conversation, messages)


def _save_others(
    companion: Companion,
    others: Sequence[tuple[Message, PlannedMessage]],
    places: Mapping[str, UUID],
    now: datetime,
) -> None:
    """Save the messages of branches that are not chosen, asleep: each beside another message, or after the one that it
    follows, which comes before it in `others` or is saved.
    """
    beside_ids = [places[planned.beside] for _, planned in others if planned.beside]
    beside = dict(Message.everywhere.filter(pk__in=beside_ids).values_list("pk", "parent_id"))
    for message, planned in others:
        message.is_asleep = True
        place = places.get(planned.beside or "")
        message.parent_id = beside[place] if place in beside else places.get(planned.follows or "")
    aside = [message for message, _ in others]
    _say(companion, aside, now)
    Memory.objects.of(companion.pk).filter(message__in=aside).update(is_asleep=True)


def _say(companion: Companion, messages: Sequence[Message], now: datetime) -> None:
    """Save the messages with their memories; the memories of hidden messages are made private."""
    say_all(companion, messages, now)
    hidden = [message.pk for message in messages if message.is_hidden]
    Memory.everywhere.of(companion.pk).filter(message__in=hidden).update(is_private=True)


def _make_message(
    companion: Companion,
    past: PastImport,
    plan: Plan,
    sessions: Mapping[int, Session],
    places: dict[str, UUID],
    forgotten: ForgottenStatements,
    planned: PlannedMessage,
) -> Message:
    """Return an unsaved message for `planned`, hidden if it tells something forgotten, and add its id to `places`."""
    message = Message(
        companion=companion,
        conversation=companion.conversation,
        session=sessions[planned.session],
        role=planned.role,
        author=_name_author(companion, plan, planned),
        text=planned.text,
        client_id=planned.key,
        said_at=planned.at,
        is_hidden=forgotten.select_since(planned.at).forbid(planned.text),
        is_learnt=True,  # until the night in which its session is learnt from
        job_id=past.job_id,
    )
    places[planned.key] = message.pk
    return message


def _name_author(companion: Companion, plan: Plan, planned: PlannedMessage) -> str:
    """Return the name of the message's author as Kith knows the two, so that what is learnt speaks of them by it.

    If there are several characters, each keeps its name.
    """
    if planned.role == Message.Role.USER:
        return companion.user.name or planned.author
    return planned.author if len(plan.characters) > 1 and planned.author else companion.name


def _make_sessions(
    companion: Companion, past: PastImport, plan: Plan, numbers: Collection[int]
) -> dict[int, Session]:
    """Return the plan's sessions of these numbers, all of them ended; save those that are missing."""
    sessions = {
        number: Session(
            id=uuid5(past.pk, f"session {number}"),
            companion=companion,
            conversation=companion.conversation,
            started_at=plan.sessions[number].started_at,
            ended_at=plan.sessions[number].ended_at,
        )
        for number in numbers
    }
    Session.everywhere.bulk_create(sessions.values(), ignore_conflicts=True)
    return sessions


def find_existing(
    companion_id: UUID, job_id: UUID | None, messages: Sequence[PlannedMessage]
) -> dict[str, UUID]:
    """Return the ids of the messages that the companion has already, by the keys of the planned ones.

    These are messages of the same talk imported before, and ones of the same role, text and second. Each existing
    message matches one planned message at most. Messages of `job_id` are matched by their keys alone.
    """
    keys = [message.key for message in messages]
    mine = Message.everywhere.filter(companion=companion_id)
    found: dict[str, UUID] = dict(mine.filter(client_id__in=keys).values_list("client_id", "pk"))  # type: ignore[arg-type]
    dated = [message for message in messages if message.is_dated and message.key not in found]
    if not dated:
        return found
    said: dict[tuple[str, int, str], list[UUID]] = {}
    times, second = [message.at for message in dated], timedelta(seconds=1)
    between = mine.filter(said_at__gte=min(times) - second, said_at__lte=max(times) + second)
    if job_id:
        between = between.exclude(job=job_id)
    others = between.exclude(pk__in=found.values()).order_by("said_at", "id")
    for role, at, text, pk in others.values_list("role", "said_at", "text", "pk"):
        said.setdefault((role, int(at.timestamp()), text), []).append(pk)
    for message in dated:
        same = said.get((message.role, int(message.at.timestamp()), message.text))
        if same:
            found[message.key] = same.pop()
    return found


@everywhere()
def _finish(past: PastImport, plan: Plan, places: Mapping[str, UUID], now: datetime) -> None:
    """Make the branches, mark the import as done, and delete its file."""
    companion = hold(past.companion_id)
    if companion is None or not _is_wanted(past):
        return
    make_branches(companion, past, plan, places)
    row = PastImport.objects.filter(pk=past.pk, state=PastImport.State.WAITING)  # unless it is undone since
    if row.update(state=PastImport.State.DONE, ended_at=now, look_at=None, file=None, error="") and past.file:
        past.file.delete()


def _is_wanted(past: PastImport) -> bool:
    return PastImport.objects.filter(pk=past.pk, state=PastImport.State.WAITING).exists()


def _note_failure(lease: Lease, code: str) -> None:
    """Count the failed try; after the last one, mark the import as failed. What it saved stays, and can be undone."""
    past = lease.held_row.first() if lease.count_failure(code) else None
    if past is None:
        return
    Job.objects.filter(pk=past.job_id).update(error=code)
    lease.held_row.update(state=PastImport.State.FAILED, ended_at=lease.clock())
    log.error("past_not_imported", import_id=str(past.pk), companion_id=str(past.companion_id), code=code)
