"""An answer in a given form: asked for as JSON, found in whatever the model wrote around it, validated."""

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from providers.chat import Messages
from providers.errors import MalformedError
from providers.finding import objects
from providers.listening import listened

Answer = TypeVar("Answer", bound=BaseModel)


def ask(task: str, messages: Messages, answer: type[Answer]) -> Answer:
    """The model's answer to the messages, as an object of that type; the calling thread waits for it.

    `task` names what is asked for: digest, ending, gists, night. The schema is sent beside the messages, and left out
    for servers that do not know how; so the messages tell the form too. The call is noted for an open meter.
    Raises ProviderUnavailable, ProviderRefused, and MalformedError where no object in that form was answered.
    """
    form = {"name": task, "schema": answer.model_json_schema(), "strict": False}
    with listened(messages, form={"type": "json_schema", "json_schema": form}) as heard:
        return validated(heard.text, answer)


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
