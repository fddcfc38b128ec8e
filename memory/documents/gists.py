"""The gists that wait: found from rows, asked for several at a time, and kept with the memory that mirrors each."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from accounts.models import ModelCall
from accounts.usage import NO_TOKENS, Payer, charged, waits_until
from jobs.lease import MAX_ATTEMPTS, Lease, retry_at
from memory.documents.request import MAX_PAGES, Gists, fitting, request
from memory.models import Document, Memory, Page
from memory.store import entry_of, nudge
from providers.chat import structured
from providers.errors import ProviderError
from text.storable import storable

log = structlog.get_logger(__name__)

INCOMPLETE = "malformed_answer"

Lock = Callable[[UUID], bool]


def find_due(now: datetime) -> list[UUID]:
    """The ids of the documents that have pages without a gist and may be tried: the sweep's work."""
    without = Page.objects.waiting().filter(document=OuterRef("pk"))
    is_due = Q(next_at=None) | Q(next_at__lte=now)
    return list(Document.objects.filter(is_due, Exists(without)).values_list("pk", flat=True))


def write_gists(document_id: UUID, now: datetime, lock: Lock) -> int:
    """Ask for the next gists of a document in one call, and keep them; how many pages got one.

    0 where nothing waits, where another worker is at it, where it is gone, and where the model failed: then it is put
    off. `lock` locks a companion and tells whether it is there; no transaction is open while the model works.
    """
    lease = Lease.take(Document.objects.filter(pk=document_id), "next_at", lambda: now)
    if lease is None:
        return 0
    document = Document.objects.select_related("companion__user").filter(pk=document_id).first()
    waiting = list(Page.objects.waiting().filter(document=document_id).order_by("number")[:MAX_PAGES])
    if document is None or not waiting:
        lease.release(None)
        return 0
    return _ask_and_keep(document, waiting, now, lock) if _may_spend(document, now) else 0


def _ask_and_keep(document: Document, waiting: Sequence[Page], now: datetime, lock: Lock) -> int:
    limits = settings.CONTEXT_TOKENS, settings.ANSWER_TOKENS
    pages = fitting(waiting, *limits)
    payer = Payer(document.companion.user_id, document.companion_id)
    try:
        with charged(payer, ModelCall.Purpose.GISTS) as charge:
            answer = structured.ask("gists", request(pages, *limits), Gists)
    except ProviderError as error:
        _put_off(document, error.code, now)
        return 0
    call = charge.calls[-1].pk if charge.calls else None
    kept = _keep(document, pages, {one.number: one.gist for one in answer.gists}, call, now, lock)
    if kept == 0:
        _put_off(document, INCOMPLETE, now)
    return kept or 0


@transaction.atomic
def _keep(
    document: Document,
    asked: Sequence[Page],
    gists: dict[int, str],
    call: int | None,
    now: datetime,
    lock: Lock,
) -> int | None:
    """Keep the gists of those pages that still wait for one; how many, None where the document is gone meanwhile."""
    if not lock(document.companion_id) or not _row(document).exists():
        return None
    left = Page.objects.waiting().filter(
        companion_id=document.companion_id, document=document, pk__in=[page.pk for page in asked]
    )
    pages = [page for page in left if page.number in gists]
    memories = [_memory(document, page, storable(gists[page.number]), now) for page in pages]
    for page, memory in zip(pages, memories, strict=True):
        page.gist, page.memory, page.call_id, memory.call_id = memory.text, memory, call, call
    Memory.objects.bulk_create(memories)
    Page.objects.filter(companion_id=document.companion_id).bulk_update(pages, ["gist", "memory", "call"])
    if pages:
        _row(document).update(next_at=None, attempts=0, error="")
        nudge(document.companion_id)
    return len(pages)


def _memory(document: Document, page: Page, gist: str, now: datetime) -> Memory:
    """The memory of a page: pages of a document follow each other in the order of time, a microsecond apart."""
    at = document.given_at + timedelta(microseconds=page.number)
    return Memory(
        companion_id=document.companion_id,
        kind=Memory.Kind.GIST,
        text=gist,
        happened_at=at,
        learnt_at=now,
        entry=entry_of(gist, "", at, document.companion.user.zone, page=page.text),
    )


def _row(document: Document) -> QuerySet[Document]:
    """The document's own row, if it is there."""
    return Document.objects.filter(companion_id=document.companion_id, pk=document.pk)


def _may_spend(document: Document, now: datetime) -> bool:
    """Whether half of the person's tokens of today are left: the other half is for talk. Else it waits for tomorrow."""
    tomorrow = waits_until(document.companion.user, now)
    if tomorrow:
        _row(document).update(next_at=tomorrow, error=NO_TOKENS)
    return tomorrow is None


def _put_off(document: Document, code: str, now: datetime) -> None:
    """Try again later, and later each time."""
    attempts = document.attempts + 1
    _row(document).update(attempts=attempts, next_at=retry_at(attempts, now), error=code)
    log.warning("gists_put_off", document=str(document.pk), code=code, attempts=attempts)
    if attempts == MAX_ATTEMPTS:  # it is still tried, four times a day
        log.error("gists_failed", document=str(document.pk), code=code)


DONE_WITH = ~Q(pages__gist="") | Q(pages__text="")  # written, or deleted
WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"


def with_progress(documents: QuerySet[Document]) -> QuerySet[Document]:
    """The documents, each with `done` and `total`: how many of its pages wait for no gist, and how many it has."""
    return documents.annotate(total=Count("pages"), done=Count("pages", filter=DONE_WITH))


def state_of(document: Document, done: int, total: int) -> str:
    """waiting, running, done or failed; a failed one is still tried, four times a day."""
    if done == total:
        return DONE
    if document.attempts >= MAX_ATTEMPTS:
        return FAILED
    return RUNNING if done or document.next_at else WAITING
