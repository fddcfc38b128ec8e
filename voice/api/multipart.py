from typing import Any


def describe_form(required: list[str], **fields: dict[str, str]) -> dict[str, Any]:
    """Return the OpenAPI description of a form with these fields."""
    schema = {"type": "object", "properties": fields, "required": required}
    return {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}}
