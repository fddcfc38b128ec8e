"""A server's models, read with limits on time and size, and the kind of server, recognised by its answers.

llama.cpp names itself in `owned_by` and gives its context at `/props`; vLLM gives both in its list; LM Studio's own
list is at `/api/v0/models`, Ollama's at `/api/tags`. LM Studio answers 200 for pages that it does not have, and
llama.cpp has Ollama's page too.
"""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from providers.discovery.hosted import find_hosted
from providers.discovery.models import Kind, Model, Server, can_chat
from providers.errors import ProviderError
from providers.http.guarded_client import build_guard
from providers.http.guarded_http import OutboundError
from providers.http.options import get_tls_context
from text.strings import is_storable

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

TIMEOUT_SECONDS = 10.0
LOCAL_TIMEOUT_SECONDS = 2.0
MAX_DETAIL_BYTES = 1_000_000  # of one model's details, which include its licence and template
MAX_AT_ONCE = 8
DETAIL_TIMEOUT_SECONDS = 1.0  # for details of a model, which are optional
MAX_BYTES = 8_000_000
MAX_GUARDED_BYTES = 1_000_000  # when parsed, it takes many times as much memory
MAX_MODELS = 5_000
MAX_DETAILED = 50  # of Ollama's models: each takes a request
MAX_NAME_CHARACTERS = 200
MAX_NUMBER = 2**53  # of tokens or bytes: a larger number cannot be true
USUAL_PORTS = {11434: Kind.OLLAMA, 1234: Kind.LM_STUDIO, 8080: Kind.LLAMA_CPP, 8000: Kind.VLLM}
CONTEXT_FIELDS = (  # in order of preference: the first is the context in use
    "loaded_context_length",
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
)
FORBIDDEN = _("The address is not on the public Internet; no other addresses are allowed here.")
Fields = Mapping[str, Any]


class ListingError(ProviderError):
    """A server's list of models cannot be read: `said` is for records, `sentence` for the operator."""

    code = "no_model_list"

    def __init__(self, said: str, sentence: "_StrPromise", *, status: int | None = None) -> None:
        super().__init__(said, status=status)
        self.sentence = sentence


class NothingThereError(ListingError):
    """No server listens at the address."""


class SilentError(ListingError):
    """The server at the address did not answer in time."""


async def find_servers(own_port: int, ports: Mapping[int, Kind] = USUAL_PORTS) -> list[Server]:
    """Return the servers that answer on the usual ports of this machine, except Kith itself, asked concurrently."""
    asked = (_look_at(port, kind) for port, kind in ports.items() if port != own_port)
    return [server for server in await asyncio.gather(*asked) if server and server.kind is not Kind.KITH]


async def _look_at(port: int, usual: Kind) -> Server | None:
    base_url = f"http://127.0.0.1:{port}/v1"
    try:
        return await read_server(base_url, timeout_seconds=LOCAL_TIMEOUT_SECONDS)
    except NothingThereError:
        return None
    except ListingError as error:
        kind = usual if isinstance(error, SilentError) else Kind.OTHER
        return Server(kind, base_url, trouble=str(error.sentence))


async def read_server(
    base_url: str, api_key: str = "", timeout_seconds: float = TIMEOUT_SECONDS, *, is_guarded: bool = False
) -> Server:
    """Return the server at the address with its models. Raise ListingError if there is no model server.

    With `is_guarded`, as for an address that a person gave, it is asked through the guard, and only for its list.
    """
    base_url = base_url.rstrip("/")
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    options = build_guard() if is_guarded else {"follow_redirects": False}
    client = httpx2.AsyncClient(headers=headers, timeout=timeout_seconds, verify=get_tls_context(), **options)
    async with client:
        try:
            async with asyncio.timeout(timeout_seconds):
                max_bytes = MAX_GUARDED_BYTES if is_guarded else MAX_BYTES
                listed = await _get_object(client, f"{base_url}/models", max_bytes=max_bytes)
        except (TimeoutError, httpx2.TimeoutException) as error:
            sentence = _("{place} did not answer within {seconds} seconds. It may still be loading a model.")
            seconds = f"{timeout_seconds:g}"
            raise SilentError(
                "timeout", format_lazy(sentence, place=_place(base_url), seconds=seconds)
            ) from error
        entries = _read_entries(listed.get("data", ""), "id")
        if entries is None:
            raise _no_model_server(base_url, "no list of models")
        kind, details = (Kind.OTHER, {}) if is_guarded else await _read_kind(client, base_url, entries)
    models = [
        _describe(name, {**entry, **details.get(name, {})})
        for name, entry in entries.items()
        if _can_chat(name, details.get(name, {}))
    ]
    models.sort(key=lambda model: not model.is_loaded)
    return Server(kind, base_url, tuple(models), "" if models else str(_explain_emptiness(kind, entries)))


async def _read_kind(
    client: httpx2.AsyncClient, base_url: str, entries: dict[str, Fields]
) -> tuple[Kind, dict[str, dict[str, Any]]]:
    """Return the kind of server, and the details of its models that its other pages give, by the models' names."""
    root = base_url.removesuffix("/v1")
    first = next(iter(entries.values()), {})
    kind, details = Kind.OTHER, {}
    match first.get("owned_by"):
        case "kith":
            kind = Kind.KITH
        case "llamacpp":
            kind = Kind.LLAMA_CPP
            props = await _find(client, f"{root}/props")
            context = _as_number(_as_fields(props.get("default_generation_settings")).get("n_ctx"))
            details = {name: {"loaded_context_length": context, "state": "loaded"} for name in entries}
            for name, entry in entries.items():
                details[name] |= {"size": _as_fields(entry.get("meta")).get("size")}
        case "vllm":
            kind = Kind.VLLM
            details = {name: {"state": "loaded"} for name in entries}
        case _ if root != base_url and not find_hosted(base_url):
            kind, details = await _read_own_lists(client, root, entries)
    return kind, details


async def _read_own_lists(
    client: httpx2.AsyncClient, root: str, entries: dict[str, Fields]
) -> tuple[Kind, dict[str, dict[str, Any]]]:
    """Return LM Studio or Ollama, with the details of models from their own pages, or OTHER if it is neither."""
    studio, tags, running = await asyncio.gather(
        *(_find(client, f"{root}{path}") for path in ("/api/v0/models", "/api/tags", "/api/ps"))
    )
    if typed := _read_entries(studio.get("data"), "id"):
        return Kind.LM_STUDIO, {name: dict(fields) for name, fields in typed.items()}
    tagged = _read_entries(tags.get("models", ""), "name")
    if tagged is None:
        return Kind.OTHER, {}
    loaded = _read_entries(running.get("models"), "name") or {}
    at_once = asyncio.Semaphore(MAX_AT_ONCE)
    names = list(entries)[:MAX_DETAILED]
    shown = await asyncio.gather(*(_show(client, root, name, at_once) for name in names))
    details = {name: {**tagged.get(name, {}), **more} for name, more in zip(entries, shown, strict=False)}
    for name in entries:
        details.setdefault(name, dict(tagged.get(name, {})))
        if name in loaded:
            context = loaded[name].get("context_length")
            details[name] |= {"state": "loaded", "loaded_context_length": context}
    return Kind.OLLAMA, details


async def _show(
    client: httpx2.AsyncClient, root: str, name: str, at_once: asyncio.Semaphore
) -> dict[str, Any]:
    """Return the capabilities of a model of Ollama's; None in their place if Ollama is too old to give them."""
    async with at_once:
        shown = await _find(client, f"{root}/api/show", {"model": name}, MAX_DETAIL_BYTES)
    return {"capabilities": shown.get("capabilities")}


def _can_chat(name: str, details: Fields) -> bool:
    if isinstance(details.get("capabilities"), list):
        return "completion" in details["capabilities"]
    if isinstance(details.get("type"), str):  # LM Studio's
        return details["type"] in {"llm", "vlm"}
    family = _as_fields(details.get("details")).get("family")
    return can_chat(name) and not (isinstance(family, str) and "bert" in family)


def _describe(name: str, fields: Fields) -> Model:
    about = _as_fields(fields.get("details"))  # Ollama's
    words = [about.get(key) for key in ("family", "parameter_size", "quantization_level")]
    words += [fields.get(key) for key in ("arch", "quantization")]
    description = " · ".join(word for word in words if isinstance(word, str) and word and is_storable(word))
    context = next((number for key in CONTEXT_FIELDS if (number := _as_number(fields.get(key)))), 0)
    return Model(
        name,
        description[:MAX_NAME_CHARACTERS],
        _as_number(fields.get("size")),
        context,
        is_loaded=fields.get("state") == "loaded",
    )


def _explain_emptiness(kind: Kind, entries: dict[str, Fields]) -> "_StrPromise":
    if entries:
        return _("It answers, but none of its models can chat. Add a chat model to it.")
    if kind is Kind.OLLAMA:
        return _("Ollama answers but has no model yet. Download one with ollama pull and the model's name.")
    return _("It answers but has no model yet. Load one there, then try again.")


# -- requests and what they bring


async def _find(
    client: httpx2.AsyncClient, url: str, body: Fields | None = None, max_bytes: int = MAX_BYTES
) -> Fields:
    """Return the JSON object at the address, or an empty one if none comes within DETAIL_TIMEOUT_SECONDS."""
    with suppress(ListingError, TimeoutError):
        async with asyncio.timeout(DETAIL_TIMEOUT_SECONDS):
            return await _get_object(client, url, body, max_bytes=max_bytes)
    return {}


async def _get_object(
    client: httpx2.AsyncClient, url: str, body: Fields | None = None, *, max_bytes: int
) -> Fields:
    """Return the JSON object that the server answers with. Raise ListingError if there is none, or TimeoutError."""
    method, content = ("POST", json.dumps(body)) if body else ("GET", None)
    received = bytearray()
    try:
        async with client.stream(method, url, content=content) as response:
            _require_success(response, url)
            async for part in response.aiter_bytes():
                received += part
                if len(received) > max_bytes:
                    raise _no_model_server(url, "endless answer")
    except OutboundError as error:
        raise ListingError(error.code, FORBIDDEN) from error
    except httpx2.ConnectError as error:
        sentence = format_lazy(
            _("Nothing answers at {place}. Is the server running, and is the address right?"),
            place=_place(url),
        )
        raise NothingThereError(str(error), sentence) from error
    except httpx2.TimeoutException as error:
        raise TimeoutError from error
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
        raise _no_model_server(url, type(error).__name__) from error
    try:
        answered = json.loads(received)
    except (ValueError, RecursionError) as error:
        raise _no_model_server(url, "no JSON") from error
    # Together's is a bare list.
    return {"data": answered} if isinstance(answered, list) else _as_fields(answered)


def _require_success(response: httpx2.Response, url: str) -> None:
    """Raise ListingError, with a sentence that says what to do, unless the response is successful."""
    status, place = response.status_code, _place(url)
    if response.is_success:
        return
    if status in {401, 403}:
        sentence = _("{place} requires a valid key.")
    elif response.has_redirect_location:
        sentence = _("{place} redirects to {target}. If that is right, enter that address instead.")
    elif status == 429:
        sentence = _("{place} is getting too many requests right now. Wait a little, then try again.")
    elif status >= 500:
        sentence = _("{place} answered with an error ({status}). Its own log may say why.")
    else:
        raise _no_model_server(url, f"status {status}")
    target = response.headers.get("location", "")[:MAX_NAME_CHARACTERS]
    raise ListingError(
        f"status {status}", format_lazy(sentence, place=place, target=target, status=status), status=status
    )


def _no_model_server(url: str, said: str) -> ListingError:
    sentence = _("Something answers at {place}, but it is not a model server. Is the address right?")
    return ListingError(said, format_lazy(sentence, place=_place(url)))


def _place(url: str) -> str:
    with suppress(ValueError):
        return urlsplit(url).netloc or url
    return url


def _read_entries(listed: object, key: str) -> dict[str, Fields] | None:
    """Return the list's objects, keyed by their names, or None if `listed` is no list. Ollama's empty list is null."""
    if listed is not None and not isinstance(listed, list):
        return None
    named = ((entry.get(key), entry) for entry in listed or () if isinstance(entry, dict))
    entries = {
        name: entry
        for name, entry in named
        if isinstance(name, str) and 0 < len(name) <= MAX_NAME_CHARACTERS and is_storable(name)
    }
    return dict(list(entries.items())[:MAX_MODELS])


def _as_fields(value: object) -> Fields:
    return value if isinstance(value, dict) else {}


def _as_number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < MAX_NUMBER else 0
