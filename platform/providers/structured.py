"""An answer in a given form: asked for as JSON, found in whatever the model wrote around it, validated."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, TypeVar

from django.conf import settings
from pydantic import BaseModel, ValidationError

from providers.chat import Messages
from providers.clients import aclose_chat, chat
from providers.errors import MalformedError, ProviderError, ProviderUnavailable
from providers.finding import objects
from providers.metering import Metered, note
from providers.pieces import Piece, Thought, Usage
from providers.tokens import estimate_answer, estimate_messages

MOST_CHARACTERS = 200_000  # of answer and reasoning together
MOST_SECONDS = 900.0  # a server may trickle for as long as it never falls silent

Answer = TypeVar("Answer", bound=BaseModel)


@dataclass
class _Heard:
    """What has come of an answer."""

    pieces: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    usage: Usage | None = None
    characters: int = 0

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def take(self, event: object) -> None:
        """Keep an event; MalformedError where the answer does not come to an end."""
        if isinstance(event, Usage):
            self.usage = event
        if not isinstance(event, Piece | Thought):
            return
        (self.pieces if isinstance(event, Piece) else self.thoughts).append(event.text)
        self.characters += len(event.text)
        if self.characters > MOST_CHARACTERS:
            raise MalformedError(f"The answer has more than {MOST_CHARACTERS:,} characters")

    def spent(self, messages: Messages, error: ProviderError | None) -> Usage:
        """The tokens as they were counted, nothing for a call that failed before it began; else an estimate."""
        told = self.usage or (error.usage if error else None)
        if told is not None:
            return told
        if error is not None and not self.characters:
            return Usage(0, 0)
        completion = estimate_answer(self.text, "".join(self.thoughts))
        return Usage(estimate_messages(messages), completion, is_estimated=True)


def ask(task: str, messages: Messages, answer: type[Answer]) -> Answer:
    """The model's answer to the messages, as an object of that type; the calling thread waits for it.

    `task` names what is asked for: digest, ending, gists, night. The schema is sent beside the messages, and left out
    for servers that do not know how; so the messages tell the form too. The call is noted for an open meter.
    Raises ProviderUnavailable, ProviderRefused, and MalformedError where no object in that form was answered.
    """
    form = {"name": task, "schema": answer.model_json_schema(), "strict": False}
    heard, began = _Heard(), perf_counter()
    failed: ProviderError | None = ProviderUnavailable("The call was left before it ended")
    try:
        _run(_listen(heard, messages, {"type": "json_schema", "json_schema": form}))
        answered, failed = validated(heard.text, answer), None
        return answered
    except ProviderError as error:
        failed = error
        raise
    finally:
        _note(heard.spent(messages, failed), began, failed)


def _run(work: Coroutine[Any, Any, None]) -> None:
    """In a thread of its own: whoever calls may stand in an event loop, as a browser's tests do."""
    with ThreadPoolExecutor(1, thread_name_prefix="asking") as own:
        own.submit(asyncio.run, work).result()


async def _listen(heard: _Heard, messages: Messages, form: Mapping[str, Any]) -> None:
    try:
        async with asyncio.timeout(MOST_SECONDS), aclosing(chat().stream(messages, form=form)) as events:
            async for event in events:
                heard.take(event)
    except TimeoutError:
        raise ProviderUnavailable(f"The answer did not end within {MOST_SECONDS:g} s") from None
    finally:
        await aclose_chat()


def _note(spent: Usage, began: float, error: ProviderError | None) -> None:
    wanted, milliseconds = settings.CHAT, round((perf_counter() - began) * 1000)
    sent, received, cached = spent.prompt_tokens, spent.completion_tokens, spent.cached_tokens
    note(
        Metered(
            wanted["base_url"],
            wanted["model"],
            sent,
            spent.is_estimated,
            milliseconds,
            error,
            received,
            cached,
        )
    )


def validated(text: str, answer: type[Answer]) -> Answer:
    """The last object in the text that is in form; MalformedError, without any of its words, where there is none."""
    found = objects(text)
    faults = "" if found else "no JSON object"
    for one in reversed(found):
        try:
            return answer.model_validate(one)
        except ValidationError as wrong:
            faults = faults or _faults(wrong, answer)
        except (ValueError, ArithmeticError, RecursionError):
            faults = faults or "a value out of all bounds"
    raise MalformedError(f"The answer is not in form: {faults}")


def _faults(wrong: ValidationError, answer: type[BaseModel]) -> str:
    """Which fields are wrong, and how; without the values."""
    faults: Sequence[Any] = wrong.errors(include_url=False, include_context=False, include_input=False)
    named = [(str(fault["loc"][0]) if fault["loc"] else "", fault["type"]) for fault in faults[:5]]
    return ", ".join(f"{name}: {kind}" if name in answer.model_fields else kind for name, kind in named)
