"""Where a provider fails another is asked in its place: for work beside the talk any, for the talk one of its model."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from pydantic import BaseModel

from jobs.background import in_thread
from providers.availability import note_error
from providers.chat.completion import complete
from providers.chat.events import Piece
from providers.chat.fallback import ProviderChosen, stream_with_fallback
from providers.chat.sampling import Sampling
from providers.chat.structured import ask
from providers.chat_provider import ChatProvider
from providers.errors import ProviderError, ProviderUnavailable
from providers.models import Provider
from providers.selection import Capability, find_providers, follow_change, get_provider
from providers.tokens import metered
from tests.fixtures.model_servers import serve
from tests.fixtures.rehearsal import RehearsalServer

MESSAGES = [{"role": "user", "content": "How was the day?"}]
FORM = '{"mood": "calm"}'


class Day(BaseModel):
    mood: str


@pytest.fixture
def add(settings: Any, transactional_db: None) -> Iterator[Callable[..., Provider]]:
    """Adds a provider, which comes behind those before it."""
    settings.CHAT_IS_FOUND, settings.CHAT_RETRIES = True, 0
    settings.CHAT_TIMEOUTS = {"connect_seconds": 5.0, "first_piece_seconds": 60.0, "silence_seconds": 60.0}
    follow_change()  # the last test's rows are gone

    def add(base_url: str, model: str = "rehearsal", **fields: Any) -> Provider:
        order = Provider.objects.count()
        row = Provider.objects.create(name=model, base_url=base_url, model=model, order=order, **fields)
        follow_change()
        return row

    yield add
    Provider.objects.all().delete()
    follow_change()


def refuse(status: int, words: str) -> Callable[[web.Request], Any]:
    async def answer(_request: web.Request) -> web.Response:
        return web.json_response({"error": {"message": words}}, status=status)

    return answer


async def show_page(_request: web.Request) -> web.Response:
    return web.Response(text="<!doctype html><title>Sign in</title>", content_type="text/html")


BROKEN: dict[str, dict[str, object]] = {
    "down": {"/v1/chat/completions": refuse(503, "overloaded")},
    "limited": {"/v1/chat/completions": refuse(429, "Rate limit reached")},
    "without money": {"/v1/chat/completions": refuse(402, "Insufficient credits")},
    "with another key": {"/v1/chat/completions": refuse(401, "Incorrect API key provided")},
    "without the model": {"/v1/chat/completions": refuse(404, "model 'rehearsal' not found")},
    "no model server": {"/{any:.*}": show_page},
}


@pytest.mark.parametrize("name", BROKEN)
def test_work_beside_the_talk_goes_on_at_the_next_provider(
    name: str, add: Callable[..., Provider], rehearsal: RehearsalServer
) -> None:
    with serve(BROKEN[name]) as broken:
        add(f"{broken}/v1", "another", capability=Capability.BACKGROUND)
        add(rehearsal.url)
        rehearsal.script({"task": "any", "answer": FORM})
        with metered() as calls:
            assert ask("day", MESSAGES, Day).mood == "calm"
    assert [(call.provider, call.error is None) for call in calls] == [
        (f"{broken}/v1", False),
        (rehearsal.url, True),
    ]


@pytest.mark.parametrize("step", [{"error": {"status": 400}}, {"answer": "No form."}])
def test_what_was_wrong_to_ask_or_answered_goes_to_no_other(
    step: dict[str, Any], add: Callable[..., Provider], rehearsal: RehearsalServer
) -> None:
    asked = []

    async def note(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.json_response({}, status=500)

    rehearsal.script({"task": "any", "answer": FORM, "repeat": 10} | step)
    with serve({"/v1/chat/completions": note}) as other:
        add(rehearsal.url, capability=Capability.BACKGROUND)
        add(f"{other}/v1")
        with pytest.raises(ProviderError):
            ask("day", MESSAGES, Day)
    assert asked == []


async def test_a_talk_that_has_begun_is_gone_on_with_by_no_other(
    add: Callable[..., Provider], rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"pieces": ["It was ", "calm."], "cut_after": 1})
    heard: list[object] = []
    with serve({"/v1/chat/completions": refuse(503, "overloaded")}) as other:
        await in_thread(add, rehearsal.url)
        await in_thread(add, f"{other}/v1")
        providers = await in_thread(find_providers)
        with pytest.raises(ProviderError):
            await hear(providers, heard)
    assert heard == [ProviderChosen(providers[0]), Piece("It was ")]


async def hear(providers: Sequence[ChatProvider], heard: list[object]) -> None:
    async for event in stream_with_fallback(providers, MESSAGES, (), Sampling()):
        heard.append(event)


async def test_one_that_hung_is_waited_for_less_while_another_may_answer(
    add: Callable[..., Provider], rehearsal: RehearsalServer, settings: Any
) -> None:
    settings.CHAT_TIMEOUTS = {"connect_seconds": 5.0, "first_piece_seconds": 6.0, "silence_seconds": 60.0}
    asked: list[str] = []

    async def answer_late(_request: web.Request) -> web.Response:
        asked.append("late")
        await asyncio.sleep(2)
        return web.json_response({"choices": [{"message": {"content": "Late."}, "finish_reason": "stop"}]})

    rehearsal.script({"answer": "Calm."})
    with serve({"/v1/chat/completions": answer_late}) as late:
        await in_thread(add, f"{late}/v1")
        await in_thread(add, rehearsal.url)
        providers = await in_thread(find_providers)
        await note_error(providers[0], ProviderUnavailable("The server gave no first piece in time"))
        heard: list[object] = []
        await hear(providers, heard)
        assert asked == ["late"]
        assert [event for event in heard if isinstance(event, Piece)] == [Piece("Calm.")]
        alone: list[object] = []
        await hear(providers[:1], alone)
    assert [event for event in alone if isinstance(event, Piece)] == [Piece("Late.")]


@pytest.mark.parametrize(("own", "others"), [(0.8, None), (None, 0.8)])
async def test_each_is_asked_with_its_own_value_against_repetition(
    own: float | None, others: float | None, add: Callable[..., Provider], rehearsal: RehearsalServer
) -> None:
    with serve(BROKEN["down"]) as broken:
        await in_thread(add, f"{broken}/v1")
        await in_thread(add, rehearsal.url)
        first, second = await in_thread(find_providers)
        providers = [replace(first, dry_multiplier=own), replace(second, dry_multiplier=others)]
        await hear(providers, [])
    (sent,) = rehearsal.requests()
    assert sent.get("dry_multiplier") == others


def test_a_waking_is_never_made_by_another_model(
    add: Callable[..., Provider], rehearsal: RehearsalServer
) -> None:
    with serve(BROKEN["down"]) as broken:
        add(f"{broken}/v1")
        add(rehearsal.url, "another")
        with pytest.raises(ProviderError):
            complete(get_provider(), MESSAGES)
        add(rehearsal.url)
        rehearsal.script({"answer": "It was calm."})
        assert complete(get_provider(), MESSAGES).text == "It was calm."


def test_a_prompt_goes_to_none_that_reads_less(
    add: Callable[..., Provider], rehearsal: RehearsalServer
) -> None:
    long = [{"role": "user", "content": "word " * 3000}]
    with serve(BROKEN["down"]) as broken:
        add(f"{broken}/v1")
        add(rehearsal.url, "small", context_tokens=2048)
        with pytest.raises(ProviderError):
            ask("day", long, Day)
    assert rehearsal.requests() == []
