"""What costs the embedder or the worker is let in by the gate of what costs the model; what is too much is refused."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import ModelCall
from companions.models import Companion
from companions.tasks import drop_old_prompts
from memory.models import Document, Memory, Recall, Revision
from memory.store import keep_fact
from tests.fixtures.rest import Api, problem

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]
COSTLY: dict[str, tuple[str, dict[str, Any]]] = {
    "recalls": ("recall", {"cue": "tea"}),
    "news": ("memories/news", {"observations": ["tea"]}),
    "look_ups": ("look-up", {"question": "tea"}),
    "memories": ("memories", {"text": "Tea."}),
    "documents": ("documents", {"title": "Tea", "text": "Tea is a drink. " * 50}),
}
OFTEN: dict[str, tuple[str, dict[str, Any]]] = COSTLY | {
    "timers": ("timers", {"schedule": "tomorrow at 9", "note": "tea"}),
    "lore": ("lore/try", {"text": "tea"}),
    "imports": ("import/log", {"messages": []}),
    "companions": ("", {"name": "Ann"}),
    "revisions": ("self-concept", {"sentences": ["I like tea."]}),
}


def path(companion: Companion, more: str) -> str:
    return f"/companions/{companion.pk}/{more}" if more else "/companions"


@pytest.mark.parametrize("what", COSTLY)
def test_without_tokens_nothing_is_embedded(as_alice: Api, mira: Companion, what: str) -> None:
    mira.user.tokens_per_day = 0
    mira.user.save()
    more, body = COSTLY[what]
    problem(as_alice.post(path(mira, more), body), 429, "no_tokens_left")
    assert not Memory.objects.exists()
    assert not Document.objects.exists()


@pytest.mark.parametrize("what", OFTEN)
def test_what_is_asked_too_often_has_to_wait(
    as_alice: Api, mira: Companion, settings: Settings, what: str
) -> None:
    settings.RATES = settings.RATES | {what: [(0, 60)]}
    more, body = OFTEN[what]
    response = as_alice.call("PUT" if what == "revisions" else "POST", path(mira, more), body)
    problem(response, 429, f"too_many_{what}_a_minute")
    assert 1 <= int(response["Retry-After"]) <= 60
    assert response["RateLimit-Policy"] == f'"{what}";q=0;w=60'


def test_what_an_operation_keeps_has_a_limit_a_day(settings: Settings) -> None:
    for what in ("memories", "recalls", "timers", "revisions"):
        assert 86_400 in [seconds for _limit, seconds in settings.RATES[what]], what


def test_recalls_by_the_api_and_words_of_background_work_are_kept_as_long_as_prompts(
    as_alice: Api, mira: Companion, settings: Settings
) -> None:
    assert as_alice.post(path(mira, "recall"), {"cue": "tea"}).status_code == 200
    sent = [{"role": "user", "content": "tea"}]
    ModelCall.objects.create(user=mira.user, purpose="learning", sent=sent, started_at=timezone.now())
    drop_old_prompts()
    assert (Recall.objects.count(), ModelCall.objects.get(purpose="learning").sent) == (1, sent)
    before = timezone.now() - settings.PROMPTS_KEPT - timedelta(days=1)
    Recall.objects.update(at=before)
    ModelCall.objects.update(started_at=before)
    drop_old_prompts()
    assert (Recall.objects.count(), ModelCall.objects.get(purpose="learning").sent) == (0, None)


def test_a_page_of_revisions_has_the_limit_of_the_api(
    client: Client, mira: Companion, settings: Settings
) -> None:
    settings.RATES = settings.RATES | {"revisions": [(0, 60)]}
    client.force_login(mira.user)
    sent = client.post(f"/companions/{mira.pk}/self-concept/edit/", {"text": "I like tea.", "number": 0})
    assert sent.status_code == 429
    assert not Revision.objects.exists()


def test_news_are_asked_for_in_bounded_work(as_alice: Api, mira: Companion, settings: Settings) -> None:
    whole = ["x" * 8_000] * (settings.NEWS_CHARACTERS // 8_000)
    response = as_alice.post(path(mira, "memories/news"), {"observations": [*whole, "y"]})
    problem(response, 422, "not_valid")
    assert "40,000 characters" in response.json()["detail"]


def test_a_page_searches_by_words_when_the_tokens_are_used_up(client: Client, mira: Companion) -> None:
    mira.user.tokens_per_day = 0
    mira.user.save()
    keep_fact(mira.pk, "Tea is drunk at five.", *[timezone.now()] * 2, zone=mira.user.zone)
    client.force_login(mira.user)
    page = client.get(f"/companions/{mira.pk}/memories/", {"q": "tea"})
    assert page.status_code == 200
    assert "drunk at five" in page.content.decode()


def test_a_page_that_is_asked_too_often_says_when_to_come_back(
    client: Client, mira: Companion, settings: Settings
) -> None:
    settings.RATES = settings.RATES | {"recalls": [(0, 60)]}
    client.force_login(mira.user)
    page = client.get(f"/companions/{mira.pk}/memories/", {"q": "tea"})
    assert page.status_code == 429
    assert "One moment, please." in page.content.decode()
    assert 1 <= int(page["Retry-After"]) <= 60
