"""Trying a model: its answer to a sentence, with times, and its other abilities, found by asking for them.

`try_provider` asks for the answer alone, with the timeouts of a talk; `probe_model` asks for everything, from a model
that may still have to be loaded.
Both ask through the client that talks use, so what works here works there.
"""

import asyncio
import base64
import io
import json
import random
import re
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy as _
from PIL import Image, ImageDraw, ImageFont
from pydantic import BaseModel

from providers.chat.client import ChatClient, Timeouts
from providers.chat.events import Event, Messages, Piece, Retracted, Thought, ToolCall, Usage
from providers.chat.sampling import Sampling
from providers.chat.structured import parse_answer
from providers.chat_provider import ChatProvider
from providers.discovery.listing import read_server
from providers.errors import EmptyAnswer, MalformedError, ProviderError, ProviderRefused, ProviderUnavailable
from providers.tokens import estimate
from text.strings import storable

TIMEOUTS = Timeouts(connect_seconds=5.0, first_piece_seconds=180.0, silence_seconds=30.0, retries=2)
TIMEOUT_SECONDS = 240.0  # for the first answer: a large model is first read from disk
TRIAL_TIMEOUT_SECONDS = 60.0
ABILITY_TIMEOUT_SECONDS = 60.0
MAX_TOKENS = 1024
MAX_CHARACTERS, MAX_ABILITY_CHARACTERS = 2_000, 400  # beyond these a small model would only ramble on
HELLO = _("Good evening. Tell me in one sentence what makes an evening a good one.")
TOOL = {
    "type": "function",
    "function": {
        "name": "look_up_weather",
        "description": "Tell the weather of a city as it is now.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}
UNSUPPORTED = re.compile(r"(?i)support|image|vision|multi-?modal|mmproj|content.{0,20}(?:type|string|part)")
PICTURE_SIZE, DIGIT_SIZE = (320, 160), 110
CHANCE = random.SystemRandom()


class Place(BaseModel):
    """What is asked for in a given form, without a word about JSON."""

    city: str
    country: str


@dataclass(slots=True)
class Probe:
    """What a model did when it was probed. An ability is None if it could not be found out, e.g. from a busy server."""

    answer: str
    first_piece_seconds: float
    tokens_per_second: float  # 0 if the answer came at once
    context_tokens: int  # 0 if the server does not say
    thinks: bool  # it showed its reasoning in one of the answers
    tools: bool | None
    json: bool | None
    pictures: bool | None


@dataclass(frozen=True, slots=True)
class Trial:
    """A provider's answer, and the seconds until its first piece and its end; or the `error` with which it failed."""

    text: str = ""
    first_piece_seconds: float = 0.0
    seconds: float = 0.0
    error: ProviderError | None = None


@dataclass
class _Answer:
    text: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    is_thoughtful: bool = False
    first_event_at: float = 0.0
    first_piece_at: float = 0.0
    ended_at: float = 0.0
    tokens: int = 0  # as counted by the server, else estimated

    def add(self, event: Event, now: float) -> None:
        match event:
            case Usage():
                self.tokens = event.completion_tokens
            case ToolCall():
                self.calls.append(event)
            case Retracted():
                self.is_thoughtful, self.text, self.first_piece_at = True, "", 0.0
            case Piece(text) | Thought(text):
                self.first_event_at, self.ended_at = self.first_event_at or now, now
                self.tokens += estimate(text)
                if isinstance(event, Thought):
                    self.is_thoughtful = True
                else:
                    self.text += text
                    self.first_piece_at = self.first_piece_at or now


async def try_provider(
    provider: ChatProvider, sentence: str, timeout_seconds: float = TRIAL_TIMEOUT_SECONDS
) -> Trial:
    """Say the sentence to the provider, without retries, and return the outcome. Reasoning counts as a first piece."""
    timeouts, began = Timeouts(**settings.CHAT_TIMEOUTS, retries=0), perf_counter()
    try:
        client = ChatClient(
            provider.base_url, provider.require_key(), provider.model, timeouts, is_guarded=provider.is_own
        )
    except ProviderError as error:
        return Trial(error=error)
    try:
        answer = await _ask_sentence(client, sentence, timeout_seconds)
    except ProviderError as error:
        return Trial(seconds=perf_counter() - began, error=error)
    finally:
        await client.aclose()
    return Trial(answer.text, answer.first_event_at - began, perf_counter() - began)


async def probe_model(
    base_url: str, api_key: str, model: str, question: str, chance: random.Random = CHANCE
) -> Probe:
    """Return the model's answer to the question, and its abilities.

    Raise ProviderError if it does not answer; a missing ability is no error.
    """
    client = ChatClient(base_url, api_key, model, TIMEOUTS)
    try:
        began = perf_counter()
        spoken = await _ask_sentence(client, question, TIMEOUT_SECONDS)
        answers = [spoken]

        async def find_out(does: Callable[[_Answer], bool], messages: Messages, **parts: Any) -> bool | None:
            answer = await _ask(client, messages, ABILITY_TIMEOUT_SECONDS, MAX_ABILITY_CHARACTERS, **parts)
            answers.append(answer)
            return does(answer)

        weather = "What is the weather in Lisbon now? Look it up with the tool."
        tools = await _settle(find_out(_has_called, _say(weather), tools=[TOOL]))
        schema = {"name": "place", "schema": Place.model_json_schema(), "strict": False}
        form = {"type": "json_schema", "json_schema": schema}
        json_ = await _settle(find_out(_is_in_form, _say("Name a city and its country."), form=form))
        number = str(chance.randrange(100, 1000))
        pictures = await _settle(find_out(lambda answer: number in answer.text, _show(number)))
    finally:
        await client.aclose()
    return Probe(
        spoken.text.strip(),
        spoken.first_piece_at - began,
        _measure_speed(spoken),
        await read_context(base_url, api_key, model),
        any(answer.is_thoughtful for answer in answers),
        tools,
        json_,
        pictures,
    )


async def _settle(finding: Awaitable[bool | None]) -> bool | None:
    """Return the finding; False if the server refuses such a request, or None if the ability could not be found out."""
    try:
        return await finding
    except ProviderUnavailable as error:  # some servers answer 500 to what they do not support
        return False if error.status and error.status >= 500 and UNSUPPORTED.search(error.said) else None
    except ProviderRefused as error:
        return None if error.status in {401, 402, 403} else False
    except ProviderError:
        return False


async def _ask_sentence(client: ChatClient, sentence: str, timeout_seconds: float) -> _Answer:
    answer = await _ask(client, _say(sentence), timeout_seconds, MAX_CHARACTERS)
    answer.text = storable(answer.text)  # no page can show a lone surrogate
    if not answer.text.strip():
        raise EmptyAnswer("The answer was empty")
    return answer


async def _ask(
    client: ChatClient, messages: Messages, timeout_seconds: float, max_characters: int, **parts: Any
) -> _Answer:
    """Return the answer, broken off once it has more than `max_characters`."""
    answer = _Answer()
    sampling = Sampling(max_tokens=MAX_TOKENS, temperature=0.3)
    try:
        async with (
            asyncio.timeout(timeout_seconds),
            aclosing(client.stream(messages, sampling=sampling, **parts)) as events,
        ):
            async for event in events:
                answer.add(event, perf_counter())
                if len(answer.text) > max_characters:
                    break
    except TimeoutError:
        raise ProviderUnavailable(f"The answer did not end within {timeout_seconds:g} s") from None
    return answer


def _measure_speed(answer: _Answer) -> float:
    """Return the tokens per second, including reasoning, measured from the first piece to the last."""
    seconds = answer.ended_at - answer.first_event_at
    return (answer.tokens - 1) / seconds if seconds > 0 and answer.tokens > 1 else 0.0


async def read_context(base_url: str, api_key: str, model: str) -> int:
    """Return the context of the model, which should be loaded by now, in tokens; 0 if the server does not say."""
    with suppress(ProviderError):
        server = await read_server(base_url, api_key)
        names = {model, f"{model}:latest"}
        return next((found.context_tokens for found in server.models if found.name in names), 0)
    return 0


# -- what is asked, and whether it was done


def _say(text: str) -> Messages:
    return [{"role": "user", "content": text}]


def _show(number: str) -> Messages:
    """Return the question which number a picture shows: a model that cannot see it will hardly guess it."""
    picture = Image.new("RGB", PICTURE_SIZE, "white")
    font = ImageFont.load_default(DIGIT_SIZE)
    ImageDraw.Draw(picture).text((40, 15), number, fill="black", font=font)
    written = io.BytesIO()
    picture.save(written, "PNG")
    address = f"data:image/png;base64,{base64.b64encode(written.getvalue()).decode()}"
    parts = [
        {"type": "text", "text": "Which number stands in this picture? Answer with the number alone."},
        {"type": "image_url", "image_url": {"url": address}},
    ]
    return [{"role": "user", "content": parts}]


def _has_called(answer: _Answer) -> bool:
    for call in answer.calls:
        with suppress(ValueError):
            arguments = json.loads(call.arguments)
            has_city = isinstance(arguments, dict) and "city" in arguments
            if has_city and call.name == TOOL["function"]["name"]:  # type: ignore[index]
                return True
    return False


def _is_in_form(answer: _Answer) -> bool:
    with suppress(MalformedError):
        parse_answer(answer.text, Place)
        return True
    return False
