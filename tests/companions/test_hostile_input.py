"""Input at the edges of what there is: times, cursors, keys; and what nobody has thought of."""

import base64
from uuid import UUID, uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import User
from companions.deletion import delete_messages
from companions.models import Companion, Message
from companions.pasts.log_import import Line, import_log
from memory.models import Memory
from tests.fixtures.rest import Api, problem

pytestmark = pytest.mark.django_db
ZONES = ["America/Los_Angeles", "Pacific/Kiritimati"]
FIELD = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n'
FILE_FIELD = FIELD.replace(b'"a"', b'"a"; filename="a"')
TIMES = [
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-12:00",
    "0999-12-31T23:00:00Z",
]


@pytest.fixture(params=ZONES)
def path(request: pytest.FixtureRequest, alice: User, mira: Companion) -> str:
    User.objects.filter(pk=alice.pk).update(time_zone=request.param)
    return f"/companions/{mira.pk}"


@pytest.mark.parametrize("at", TIMES)
def test_a_time_that_is_in_no_calendar_is_refused(as_alice: Api, path: str, at: str) -> None:
    line = {"role": "user", "text": "yesterday", "at": at}
    for where, body in (
        ("memories", {"text": "yesterday", "happened_at": at}),
        ("recall", {"cue": "yesterday", "as_of": at}),
        ("import/log", {"messages": [line]}),
    ):
        problem(as_alice.post(f"{path}/{where}", body), 422, "not_valid")
    assert (Memory.objects.count(), Message.objects.count()) == (0, 0)


@pytest.mark.parametrize("at", ["1000-01-01T00:00:00Z", "8999-12-31T23:59:59Z"])
def test_the_first_and_the_last_time_that_can_be(as_alice: Api, path: str, at: str) -> None:
    text = "999 days ago, last month, last week, yesterday"
    assert as_alice.post(f"{path}/memories", {"text": text, "happened_at": at}).status_code == 201
    assert as_alice.post(f"{path}/recall", {"cue": text, "as_of": at}).status_code == 200
    assert as_alice.get(f"{path}/memories").json()["items"][0]["text"] == text


def test_an_offset_that_no_zone_has_is_a_time_all_the_same(as_alice: Api, path: str) -> None:
    at = "2020-01-01T00:00:00+23:59"
    made = as_alice.post(f"{path}/memories", {"text": "A fact", "happened_at": at}).json()
    assert made["happened_at"] == "2019-12-31T00:01:00Z"
    assert as_alice.post(f"{path}/recall", {"cue": "fact", "since": at}).status_code == 200
    cursor = base64.urlsafe_b64encode(f"{at}|{uuid4()}".encode()).decode()
    assert as_alice.get(f"{path}/memories?cursor={cursor}").status_code == 200


@pytest.mark.parametrize("at", [*TIMES, "2024-01-01", "2024-01-01T10:00:00"])
def test_a_cursor_with_such_a_time_is_refused(as_alice: Api, path: str, at: str) -> None:
    cursor = base64.urlsafe_b64encode(f"{at}|{uuid4()}".encode()).decode()
    problem(as_alice.get(f"{path}/memories?cursor={cursor}"), 422, "bad_cursor")


@pytest.mark.django_db(transaction=True)
def test_a_key_that_is_too_long_is_refused_for_messages_too(as_alice: Api, mira: Companion) -> None:
    headers = {"Idempotency-Key": "k" * 201}
    response = as_alice.post(f"/companions/{mira.pk}/messages?wait=0", {"text": "Hi"}, **headers)
    problem(response, 400, "bad_idempotency_key")


def test_a_cursor_whose_message_is_gone_does_not_pretend_that_nothing_came_before(
    as_alice: Api, mira: Companion
) -> None:
    now = timezone.now()
    import_log(mira, [Line(role="user", text=text, at=now) for text in ("One", "Two", "Three")], now)
    cursor = as_alice.get(f"/companions/{mira.pk}/messages?limit=1").json()["next"]
    delete_messages(mira.pk, [UUID(cursor)], now)
    problem(as_alice.get(f"/companions/{mira.pk}/messages?cursor={cursor}"), 422, "bad_cursor")


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("multipart/form-data", b"--x"),
        ("multipart/form-data; boundary=x", FIELD * 1_001 + b"--x--"),
        ("multipart/form-data; boundary=x", FILE_FIELD * 101 + b"--x--"),
    ],
    ids=["without a boundary", "many fields", "many files"],
)
def test_a_form_that_cannot_be_read_is_refused(as_alice: Api, content_type: str, body: bytes) -> None:
    for path in ("cards/preview", "companions/import/digital-life"):
        response = Client().generic("POST", f"/api/v1/{path}", body, content_type, headers=as_alice.headers)
        problem(response, 400, "bad_request")


def test_a_value_that_is_not_valid_is_named_by_its_place_in_the_request(
    as_alice: Api, mira: Companion
) -> None:
    response = as_alice.call("PATCH", "/me", {"name": 1, "time_zone": "Mars"})
    assert problem(response, 422, "not_valid")["errors"] == [
        {"where": "body.name", "what": "Input should be a valid string"},
        {"where": "body.time_zone", "what": "is no time zone that this server knows"},
    ]
    response = as_alice.post(f"/companions/{mira.pk}/documents", {})
    assert (
        problem(response, 422, "not_valid")["detail"]
        == "body.title: Field required; body.text: Field required"
    )


def test_a_cards_new_name_that_cannot_be_stored_is_refused(as_alice: Api) -> None:
    card = SimpleUploadedFile("card.json", b'{"spec": "chara_card_v2", "data": {"name": "Mira"}}')
    refused = problem(
        as_alice.form("/companions/import/card", {"file": card, "name": "a\0b"}), 422, "not_valid"
    )
    assert [wrong["where"] for wrong in refused["errors"]] == ["form.name"]


@pytest.mark.parametrize("body", [b"[]", b'["name"]', b'"name"', b"null", b"1"])
def test_a_body_that_is_no_object_is_refused(as_alice: Api, mira: Companion, body: bytes) -> None:
    """Else its fields would count as omitted: a list of keys would confirm all of a proposal."""
    for method, path in (("PATCH", "/me"), ("POST", f"/companions/{mira.pk}/close")):
        refused = problem(as_alice.call(method, path, body), 422, "not_valid")
        assert refused["errors"] == [{"where": "body", "what": "Input should be an object"}]


def test_sampling_values_that_are_no_object_reset_none(as_alice: Api, mira: Companion) -> None:
    path = f"/companions/{mira.pk}/mind"
    as_alice.call("PATCH", path, {"sampling": {"temperature": 0.5}})
    for wrong in ([], "x", 1):
        refused = problem(as_alice.call("PATCH", path, {"sampling": wrong}), 422, "not_valid")
        assert refused["errors"] == [{"where": "body.sampling", "what": "Input should be an object"}]
    assert as_alice.get(path).json()["sampling"]["temperature"] == 0.5


def test_a_form_without_the_file_is_refused(as_alice: Api) -> None:
    problem(as_alice.form("/companions/import/digital-life", {"x": "y"}), 422, "no_file")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "not_found"),
        ("GET", "/companions/", 404, "not_found"),
        ("GET", "/companions/not-an-id", 404, "not_found"),
        ("DELETE", "/companions", 405, "method_not_allowed"),
        ("PUT", "/unread", 405, "method_not_allowed"),
    ],
)
def test_an_address_without_an_operation_is_explained_like_any_error(
    as_alice: Api, method: str, path: str, status: int, code: str
) -> None:
    response = as_alice.call(method, path)
    problem(response, status, code)
    assert ("Allow" in response) == (status == 405)
    assert not response.cookies


def test_what_nobody_thought_of_keeps_the_contracts_form(as_alice: Api, mira: Companion) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE memory_recall RENAME TO gone")
    problem(as_alice.post(f"/companions/{mira.pk}/recall", {"cue": "tea"}), 500, "internal_error")


@pytest.mark.parametrize("kind", ["%00", "nothing", "x" * 5000])
def test_a_kind_of_memory_that_there_is_not_has_no_page(
    client: Client, alice: User, mira: Companion, kind: str
) -> None:
    client.force_login(alice)
    assert client.get(f"/companions/{mira.pk}/memories/?kind={kind}").status_code == 404
    assert client.get(f"/companions/{mira.pk}/memories/?q=tea&kind={kind}").status_code == 404


@pytest.mark.parametrize("values", [b"[]", b'"a"', b"1.5"])
@pytest.mark.parametrize("where", ["", "/{}/documents", "/import/digital-life"])
def test_json_of_more_values_than_any_needs_is_not_parsed(
    as_alice: Api, mira: Companion, where: str, values: bytes
) -> None:
    body = b'{"name": "x", "selfName": [' + values + (b"," + values) * 1_100_000 + b"]}"
    problem(as_alice.post(f"/companions{where.format(mira.pk)}", body), 413, "too_many_values")


def test_a_long_text_may_have_as_many_commas_and_brackets_as_it_likes(as_alice: Api, mira: Companion) -> None:
    assert (
        as_alice.post(f"/companions/{mira.pk}/documents", {"title": "t", "text": "[1," * 400_000}).status_code
        == 201
    )
