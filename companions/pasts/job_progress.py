"""How far a job is, read from the rows that it works on: an imported log or past, or a session that is closed."""

from accounts.limits.usage import NO_TOKENS_LEFT
from companions.models import Closing, Job, Message, PastImport
from memory.embedding import select_unembedded


def measure_progress(job: Job) -> tuple[str, int]:
    """Return the job's state, and how many of its messages are done: of an import, those that can be recalled."""
    if job.error:
        return "failed", 0
    if job.kind == Job.Kind.CLOSE:
        return _measure_closing(job)
    left = select_unembedded(job.companion_id).filter(message__job=job).count()
    if job.kind == Job.Kind.IMPORT_PAST:
        return _measure_past(job, left)
    return ("running" if left else "done"), job.total - left


def _measure_closing(job: Job) -> tuple[str, int]:
    closing = Closing.objects.filter(job=job).first()
    if closing is None:  # there was nothing to close
        return "done", job.total
    if closing.state == Closing.State.WAITING and closing.is_begun:
        return "running", 0
    return closing.state, job.total if closing.state == Closing.State.DONE else 0


def _measure_past(job: Job, left: int) -> tuple[str, int]:
    """Return the state of a past's import or its undoing, and how many of its messages are recallable or deleted."""
    past = PastImport.objects.filter(job=job).first()
    if past is None:  # it is undone
        return "done", job.total
    made = Message.everywhere.filter(job=job).count()
    if past.state == PastImport.State.UNDOING:
        return "running", job.total - made
    if past.state == PastImport.State.WAITING:
        return ("running" if past.look_at else "waiting"), made - left
    return ("running", made - left) if left else ("done", job.total)


def get_error_code(job: Job) -> str:
    """Return the code of the job's error, `NO_TOKENS_LEFT` if a closing waits for tomorrow's tokens, or else ""."""
    waiting = Closing.objects.open().filter(job=job, error=NO_TOKENS_LEFT)
    return job.error or (NO_TOKENS_LEFT if waiting.exists() else "")
