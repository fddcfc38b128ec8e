"""The root of the REST API, version 1, and its error handlers, which answer with problem details (RFC 9457)."""

import functools
import hashlib
from typing import Any

import structlog
from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist, RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.utils.translation import gettext as _
from django.views.decorators.http import condition
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema
from ninja.parser import Parser
from ninja.responses import Response
from redis.exceptions import RedisError

from accounts import api as account
from accounts.authentication import BearerToken
from accounts.errors import RefusedError
from companions.api import (
    archives,
    attachments,
    branches,
    cards,
    characters,
    companions,
    consolidation,
    core_memory,
    diary,
    documents,
    files,
    forget_proposals,
    gallery,
    goals,
    jobs,
    life,
    lorebooks,
    memories,
    messages,
    mind,
    model_change,
    pasts,
    portrait,
    search,
    threads,
    timers,
)
from database.queries import describe_full_disk, is_disk_full, is_row_gone
from files.storage import refuse_full_disk
from integrations.push import api as push
from memory.errors import PolicyError
from text.json_size import TooManyValuesError, check_json
from voice import api as voice

log = structlog.get_logger(__name__)
PROBLEM: dict[str, Any] = {
    "description": "The request failed. `code` is for programs, `detail` a sentence for the user.",
    "content": {
        "application/problem+json": {
            "schema": {
                "type": "object",
                "properties": {
                    "type": {"type": "string"},
                    "title": {"type": "string"},
                    "status": {"type": "integer"},
                    "code": {"type": "string"},
                    "detail": {"type": "string"},
                    "field": {
                        "type": "string",
                        "description": "With the code `bad_value`: the field of the request that is invalid.",
                    },
                    "errors": {
                        "type": "array",
                        "description": "With the code `not_valid`: each invalid value, by its place in the request.",
                        "items": {
                            "type": "object",
                            "properties": {"where": {"type": "string"}, "what": {"type": "string"}},
                            "required": ["where", "what"],
                        },
                    },
                },
                "required": ["type", "title", "status", "code", "detail"],
            }
        }
    },
}


class KithAPI(NinjaAPI):
    """The API; its contract says of every operation what an error looks like."""

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
        contract = super().get_openapi_schema(path_prefix=path_prefix, path_params=path_params)
        contract["components"]["responses"] = {"Problem": PROBLEM}
        for methods in contract["paths"].values():
            for operation in methods.values():
                operation["responses"]["default"] = {"$ref": "#/components/responses/Problem"}
                _leave_parts(operation.get("requestBody", {}).get("content", {}))
        return contract


def _leave_parts(content: dict[str, Any]) -> None:
    """Describe a form with a file as sent in parts alone: Ninja describes its other fields as one without the file."""
    if (parts := content.get("multipart/form-data")) and (
        fields := content.pop("application/x-www-form-urlencoded", None)
    ):
        parts["schema"]["properties"] |= fields["schema"]["properties"]


class NoObjectError(ValueError):
    """The body is JSON, but no object: Ninja would take all of its fields as omitted."""


class BodyParser(Parser):
    """Parses JSON bodies. The cause of an HttpError of Ninja's is the TooManyValuesError or NoObjectError, if any."""

    def parse_body(self, request: HttpRequest) -> dict[str, Any]:
        check_json(request.body)
        body = super().parse_body(request)
        if not isinstance(body, dict):
            raise NoObjectError
        return body


api = KithAPI(
    title="Kith",
    version="1",
    description=(
        "Create a token on the settings page, and send it as `Authorization: Bearer TOKEN`. Errors, lists, repeated "
        "requests, event streams and sockets are described in docs/api/overview.md, which comes with Kith."
    ),
    auth=BearerToken(),
    urls_namespace="api",
    parser=BodyParser(),
)
for router in (
    companions.router,
    messages.router,
    search.router,
    branches.router,
    memories.router,
    forget_proposals.router,
    companions.transfer_router,
    cards.transfer_router,
    characters.router,
    archives.router,
    consolidation.router,
    diary.router,
    diary.revisions_router,
    attachments.router,
    documents.router,
    jobs.router,
    core_memory.router,
    timers.router,
    life.router,
    goals.router,
    threads.router,
    model_change.router,
    portrait.router,
    mind.router,
    lorebooks.companions_router,
    pasts.companions_router,
):
    api.add_router("/companions", router)
api.add_router("/cards", cards.router)
api.add_router("/pasts", pasts.router)
api.add_router("/lorebooks", lorebooks.router)
api.add_router("/gallery", gallery.router)
api.add_router("/replies", messages.replies_router)
api.add_router("", life.my_router)
api.add_router("", mind.presets_router)
api.add_router("/push", push.router)
api.add_router("/files", files.router)
for router in voice.of_companions:
    api.add_router("/companions", router)
for router in voice.by_themselves:
    api.add_router("", router)
api.add_router("", account.router)


@functools.cache
def openapi_document() -> bytes:
    """Return the API's OpenAPI document as JSON, generated once per process."""
    return Response(api.get_openapi_schema()).content


@functools.cache
def openapi_etag() -> str:
    return f'"{hashlib.sha256(openapi_document()).hexdigest()[:32]}"'


@condition(etag_func=lambda request: openapi_etag())
def show_openapi(request: HttpRequest) -> HttpResponse:
    """Answer with the OpenAPI document, or 304 if the client has it already."""
    return HttpResponse(openapi_document(), content_type="application/json; charset=utf-8")


def problem(request: HttpRequest, status: int, code: str, detail: str, **more: object) -> HttpResponse:
    """Return a response with the error as `application/problem+json`; `more` adds members to it."""
    body = {
        "type": "about:blank",
        "title": code.replace("_", " "),
        "status": status,
        "code": code,
        "detail": detail,
    }
    response = api.create_response(request, {**body, **more}, status=status)
    response["Content-Type"] = "application/problem+json"
    return response


@api.exception_handler(RefusedError)
def refused(request: HttpRequest, error: RefusedError) -> HttpResponse:
    response = problem(request, error.status, error.code, str(error.detail), **error.more)
    for name, value in error.headers.items():
        response[name] = value
    return response


@api.exception_handler(AuthenticationError)
def not_signed_in(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    has_token = request.headers.get("Authorization", "").lower().startswith("bearer ")
    detail = (
        _("This token is not valid: it was revoked or mistyped. Create another on the settings page.")
        if has_token
        else _("Send a token: Authorization: Bearer TOKEN.")
    )
    response = problem(request, 401, "not_signed_in", detail)
    response["WWW-Authenticate"] = "Bearer"
    return response


@api.exception_handler(Http404)
def not_found(request: HttpRequest, error: Http404) -> HttpResponse:
    return problem(request, 404, "not_found", _("Nothing of yours was found here."))


def describe_invalid(wrong: dict[str, Any]) -> dict[str, str]:
    """Return place and error without what Pydantic and Ninja add: the argument's name, and the exception's class.

    Pydantic counts the characters of a text that it has validated as "items".
    """
    place, what = wrong["loc"], wrong["msg"].removeprefix("Value error, ")
    place = place[1:] if place[:2] == ("body", "body") else place
    if what.startswith("Value should have at most"):
        what = what.replace("items after validation", "characters")
    return {"where": ".".join(map(str, place)), "what": what}


@api.exception_handler(ValidationError)
def not_valid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    errors = [describe_invalid(wrong) for wrong in error.errors]
    detail = "; ".join(f"{wrong['where']}: {wrong['what']}" for wrong in errors[:3])
    return problem(request, 422, "not_valid", detail, errors=errors[:50])


@api.exception_handler(MultiPartParserError)
@api.exception_handler(TooManyFieldsSent)
@api.exception_handler(TooManyFilesSent)
def bad_form(request: HttpRequest, error: Exception) -> HttpResponse:
    return problem(
        request, 400, "bad_request", _("This form cannot be read: it is malformed, or has too many fields.")
    )


@api.exception_handler(RequestDataTooBig)
def too_large(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE // 1_000_000
    return problem(request, 413, "too_large", _("A request can be at most %(limit)s MB.") % {"limit": limit})


@api.exception_handler(TooManyValuesError)
def too_many_values(request: HttpRequest, error: TooManyValuesError) -> HttpResponse:
    return problem(request, 413, "too_many_values", _("This JSON has more values than any request needs."))


@api.exception_handler(PolicyError)
def no_such_policy(request: HttpRequest, error: PolicyError) -> HttpResponse:
    return problem(request, 422, error.code, str(error))


@api.exception_handler(HttpError)
def http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    if isinstance(error.__cause__, TooManyValuesError):
        return too_many_values(request, error.__cause__)
    if isinstance(error.__cause__, NoObjectError):
        return not_valid(request, ValidationError([{"loc": ("body",), "msg": "Input should be an object"}]))
    return problem(request, error.status_code, "bad_request", str(error))


@api.exception_handler(OperationalError)
@api.exception_handler(InterfaceError)
def database_away(request: HttpRequest, error: OperationalError | InterfaceError) -> HttpResponse:
    return problem(
        request,
        503,
        "database_away",
        describe_full_disk(error) or _("Kith's database is not answering right now. Try again in a moment."),
    )


@api.exception_handler(DatabaseError)
@api.exception_handler(ObjectDoesNotExist)
def row_failed(request: HttpRequest, error: DatabaseError | ObjectDoesNotExist) -> HttpResponse:
    """Answer 404 if what the request was about was deleted by another at the same moment."""
    return not_found(request, Http404()) if is_row_gone(error) else unknown(request, error)


@api.exception_handler(OSError)
def disk_full(request: HttpRequest, error: OSError) -> HttpResponse:
    """Answer 503 if a disk is full, which may be that of the machine's temporary folder."""
    return refused(request, refuse_full_disk(error)) if is_disk_full(error) else unknown(request, error)


@api.exception_handler(RedisError)
def redis_away(request: HttpRequest, error: RedisError) -> HttpResponse:
    return problem(
        request, 503, "redis_away", _("Kith cannot send answers right now. Try again in a moment.")
    )


@api.exception_handler(Exception)
def unknown(request: HttpRequest, error: Exception) -> HttpResponse:
    """Answer an unexpected error with problem details as well, and log its stack."""
    log.error("request_failed", exc_info=error)
    return problem(
        request, 500, "internal_error", _("Something went wrong on Kith's side. It is in the operator's log.")
    )
