"""What a tool is: a name, its arguments, and a handler that answers with plain data."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import BaseModel

from companions.tools.tool_context import ToolContext


class ToolError(Exception):
    """What a model asked for cannot be done; the sentence says why, so that it can ask otherwise."""


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    arguments: type[BaseModel]
    handler: Callable[[ToolContext, Any, datetime], dict[str, Any]]

    @property
    def offer(self) -> dict[str, Any]:
        """The tool in the form of the chat protocol."""
        schema = _lean(self.arguments.model_json_schema())
        description = schema.pop("description", "")
        return {
            "type": "function",
            "function": {"name": self.name, "description": description, "parameters": schema},
        }


SAID_WHEN_WRONG = {"minLength", "maxLength", "minimum", "maximum", "maxItems", "default", "title", "anyOf"}


def _lean(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without what costs tokens in each prompt: bounds are told where they are overstepped."""
    schema.pop("title", None)
    fields = {name: _lean_field(field) for name, field in schema.get("properties", {}).items()}
    return {**schema, "properties": fields}


def _lean_field(field: dict[str, Any]) -> dict[str, Any]:
    """Of a field that may be left out, the kind that it has where it is not."""
    given: dict[str, Any] = next((one for one in field.get("anyOf", []) if one.get("type") != "null"), {})
    return {name: value for name, value in {**field, **given}.items() if name not in SAID_WHEN_WRONG}
