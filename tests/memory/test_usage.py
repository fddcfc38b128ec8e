"""Embedding by a provider is counted, on the account of whose memory it was."""

from typing import Any

import pytest
from django.utils import timezone

from accounts.limits.usage import Payer, load_allowance
from accounts.models import ModelCall, User
from companions.models import Companion
from companions.pasts.log_import import Line, import_log
from memory.embedding import embed_cue
from tests.fixtures.embedding import embed_all
from tests.fixtures.rehearsal import RehearsalServer

pytestmark = pytest.mark.django_db


@pytest.fixture
def remote(rehearsal: RehearsalServer, settings: Any) -> None:
    settings.EMBEDDING = {"base_url": rehearsal.url, "api_key": "", "model": "rehearsal-embedding"}


def tell(companion: Companion, text: str) -> None:
    now = timezone.now()
    import_log(companion, [Line(role="user", text=text, at=now)], now)


@pytest.mark.usefixtures("remote")
def test_each_persons_memories_are_embedded_on_their_own_account(
    alice: User, bob: User, mira: Companion, tian: Companion
) -> None:
    tell(mira, "I planted three tomatoes.")
    tell(tian, "今天下雨了。")
    assert embed_all() == 2
    calls = ModelCall.objects.filter(
        purpose="embedding", outcome="done", is_estimated=False, prompt_tokens__gt=0
    )
    assert set(calls.values_list("user_id", "companion_id")) == {(alice.pk, mira.pk), (bob.pk, tian.pk)}


@pytest.mark.usefixtures("remote")
def test_a_cue_is_charged_to_whoever_asks(alice: User, mira: Companion) -> None:
    assert embed_cue("tomatoes", Payer(alice.pk, mira.pk)) is not None
    assert load_allowance(alice, timezone.now()).tokens_today > 0


@pytest.mark.usefixtures("remote")
def test_without_tokens_no_provider_is_asked_what_a_cue_means_and_the_built_in_embedder_is(
    alice: User, mira: Companion, settings: Any
) -> None:
    assert embed_cue("tomatoes", Payer(alice.pk, mira.pk)) is not None
    calls = ModelCall.objects.count()
    User.objects.filter(pk=alice.pk).update(tokens_per_day=0)
    assert embed_cue("tomatoes", Payer(alice.pk, mira.pk)) is None
    assert ModelCall.objects.count() == calls
    settings.EMBEDDING = {}
    assert embed_cue("tomatoes", Payer(alice.pk, mira.pk)) is not None


def test_a_call_that_fails_is_on_record(alice: User, mira: Companion, settings: Any) -> None:
    settings.EMBEDDING = {"base_url": "http://127.0.0.1:9/v1", "api_key": "", "model": "nobody"}
    assert embed_cue("tomatoes", Payer(alice.pk, mira.pk)) is None
    assert ModelCall.objects.get().outcome == ModelCall.Outcome.UNAVAILABLE


def test_the_built_in_embedder_costs_nothing(mira: Companion) -> None:
    tell(mira, "I planted three tomatoes.")
    assert embed_all() == 1
    assert not ModelCall.objects.exists()
