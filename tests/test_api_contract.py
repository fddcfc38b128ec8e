"""The public contract of the REST API: who may call, and what it looks like."""

import json
import re
from pathlib import Path

import pytest
from django.test import Client
from ninja.openapi.schema import OpenAPISchema

from config.api import api
from tests.fixtures.rest import Api
from tests.fixtures.routes import openapi

SNAPSHOT = Path(__file__).parent / "snapshots" / "openapi.json"


def operations() -> list[tuple[str, str, dict]]:
    paths = openapi()["paths"]
    return [
        (method, path, operation) for path, methods in paths.items() for method, operation in methods.items()
    ]


def test_every_operation_asks_for_a_token() -> None:
    open_to_all = [
        f"{method} {path}"
        for method, path, operation in operations()
        if operation.get("security") != [{"BearerToken": []}]
    ]
    assert not open_to_all


@pytest.mark.django_db
def test_nobody_gets_in_without_one(client: Client) -> None:
    answers = {}
    for method, path, _operation in operations():
        where = re.sub(r"\{\w+_id\}", "00000000-0000-4000-8000-000000000000", path).replace("{number}", "1")
        response = client.generic(method.upper(), where, b"{}", content_type="application/json")
        answers[method, path] = (response.status_code, response["Content-Type"], response.json().get("code"))
    refused = (401, "application/problem+json", "not_signed_in")
    assert len(answers) > 150
    assert {where: answer for where, answer in answers.items() if answer != refused} == {}


class StrictSchema(OpenAPISchema):
    """The contract; two different schemas under one name are an error, of which ninja would keep the last."""

    def add_schema_definitions(self, definitions: dict) -> None:
        taken = [
            name for name in definitions if self.schemas.get(name, definitions[name]) != definitions[name]
        ]
        assert not taken, "name these classes otherwise, or see `describe_choices`"
        super().add_schema_definitions(definitions)


@pytest.mark.django_db
def test_an_error_is_what_the_contract_says_of_every_operation(as_alice: Api) -> None:
    assert all("default" in operation["responses"] for _method, _path, operation in operations())
    [described] = openapi()["components"]["responses"]["Problem"]["content"].values()
    for response in (as_alice.post("/companions", {}), as_alice.get("/replies/x"), Api(None).get("/me")):
        found = response.json()
        assert set(described["schema"]["required"]) <= set(found) <= set(described["schema"]["properties"])


def test_a_form_with_a_file_is_sent_in_parts_alone() -> None:
    bodies = {
        operation["operationId"]: operation["requestBody"]["content"]
        for _method, _path, operation in operations()
        if "requestBody" in operation
    }
    assert [name for name, content in bodies.items() if "application/x-www-form-urlencoded" in content] == []
    fields = bodies["import_past"]["multipart/form-data"]["schema"]["properties"]
    assert set(fields) == {"file", "format", "person", "pattern", "learn", "nightly_tokens"}


def test_a_name_stands_for_one_schema() -> None:
    StrictSchema(api, "/api/v1/")


def test_the_openapi_document_equals_its_snapshot() -> None:
    """A change of the contract is made on purpose: `make openapi-snapshot`."""
    kept, now = json.loads(SNAPSHOT.read_text()), json.loads(json.dumps(openapi(), default=str))
    changed = [
        f"{kind} {name}"
        for kind, before, after in (
            ("path", kept["paths"], now["paths"]),
            ("schema", kept["components"]["schemas"], now["components"]["schemas"]),
        )
        for name in before.keys() | after.keys()
        if before.get(name) != after.get(name)
    ]
    assert not changed, f"{sorted(changed)}: if the contract is to change, run `make openapi-snapshot`"
    assert kept == now
