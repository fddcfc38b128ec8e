"""How far a document is: pages with gists, of all."""

from django.db.models import Count, Q, QuerySet

from memory.documents.gists import MOST_TRIES
from memory.models import Document

DONE_WITH = ~Q(pages__gist="") | Q(pages__text="")  # written, or deleted
WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"


def with_progress(documents: QuerySet[Document]) -> QuerySet[Document]:
    """The documents, each with `done` and `total`: how many of its pages wait for no gist, and how many it has."""
    return documents.annotate(total=Count("pages"), done=Count("pages", filter=DONE_WITH))


def state_of(document: Document, done: int, total: int) -> str:
    """waiting, running, done or failed; a failed one is still tried, four times a day."""
    if done == total:
        return DONE
    if document.attempts >= MOST_TRIES:
        return FAILED
    return RUNNING if done or document.next_at else WAITING
