"""What comparable systems forgot to switch on works here."""

from datetime import timedelta
from importlib import import_module

import pytest
from django.conf import settings
from django.utils import timezone

from companions.models import Companion, Reply
from companions.sessions import closing, requests
from jobs.background import in_thread
from memory.models import Recall
from tests.fixtures.clock import clock_at
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.turns import connected

pytestmark = pytest.mark.django_db(transaction=True)
TOLD = "My sister Ingrid lives in Bergen."


@pytest.mark.usefixtures("web")
async def test_recall_is_offered_and_done_when_one_asks_about_a_closed_session(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    async with connected(mira.user, mira) as socket:
        await socket.send("message.send", text=TOLD, client_id="1")
        await socket.until("reply.done")
        await in_thread(_close, mira)
        await socket.send("message.send", text="Where does my sister Ingrid live?", client_id="2")
        done = (await socket.until("reply.done"))[-1]
    assert "Bergen" in done["message"]["text"]
    offered = [tool["function"]["name"] for tool in rehearsal.requests()[-1]["tools"]]
    assert "recall" in offered
    recalled = await in_thread(_recalled, mira)
    assert any(TOLD in text for text in recalled), (
        "the line itself stands in the history; what was made of it is recalled"
    )


def _close(companion: Companion) -> None:
    night = timezone.now() + timedelta(hours=companion.idle_hours, minutes=1)
    assert requests.close_silent(night) == 1
    [closing_id] = closing.find_due(night)
    closing.run(closing_id, clock_at(night))
    assert companion.sessions.get().ended_at is not None


def _recalled(companion: Companion) -> list[str]:
    reply = Reply.objects.filter(companion=companion).latest("created_at")
    recall = Recall.objects.get(reply=reply, by=Recall.By.TURN)
    return list(recall.found.values_list("memory__text", flat=True))


@pytest.mark.parametrize(
    "task",
    [
        "companions.sessions.tasks.close_waiting",
        "companions.sessions.tasks.digest_waiting",
        "companions.life.tasks.reflect_waiting",
        "companions.sessions.tasks.rewrite_stale_diary",
        "companions.tasks.begin_nights",
        "companions.tasks.write_waiting_gists",
    ],
)
def test_beat_looks_for_what_is_to_do_and_not_only_at_the_start(task: str) -> None:
    assert task in [one["task"] for one in settings.CELERY_BEAT_SCHEDULE.values()]
    module, _, name = task.rpartition(".")
    getattr(import_module(module), name)()
