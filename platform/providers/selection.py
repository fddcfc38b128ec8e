"""Which providers are in force: the environment's, else the database's active ones, else what `make up` found.

A person's own providers answer in addition, for that person's companions only, and only if asked for by model name.
Which models a companion prefers holds within a block (`preferring`), as a language does under `translation.override`.

Each process reads the database at most once in FRESH_SECONDS, when a caller asks, so that all processes follow a change
within that time. In an event loop, which must not wait for the database, callers get what the process read last.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import structlog
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Min

from database.queries import DATABASE_UNAVAILABLE
from providers.chat.events import Messages
from providers.chat_provider import OWN, ChatProvider, build_own_provider, build_provider, count_slots
from providers.engine.rows import want_engines
from providers.errors import ModelMissing
from providers.models import OwnProvider, Provider
from providers.tokens import estimate_messages

log = structlog.get_logger(__name__)
Capability = Provider.Capability
FRESH_SECONDS = 2.0
MAX_PEOPLE = 1000  # for so many people a process caches their own providers
ActiveProviders = Mapping[str, Sequence[ChatProvider]]  # by capability, in order of fallback


@dataclass(frozen=True, slots=True)
class Preference:
    """The preferred models, by their names in requests, and a limit of context; empty for those of the installation.

    `user_id` is the person whose own providers may be asked in addition to the installation's.
    """

    chat_model: str = ""
    background_model: str = ""
    context_tokens: int | None = None
    user_id: int | None = None


NO_PREFERENCE = Preference()
_preference: ContextVar[Preference] = ContextVar("preference", default=NO_PREFERENCE)


@contextmanager
def preferring(preference: Preference) -> Iterator[None]:
    """Choose providers by this preference within the block."""
    token = _preference.set(preference)
    try:
        yield
    finally:
        _preference.reset(token)


def get_preference() -> Preference:
    """Return the preference of the innermost open block, or NO_PREFERENCE outside of any."""
    return _preference.get()


def read_active() -> ActiveProviders:
    """Return the active providers of each capability (one query)."""
    active: dict[str, list[ChatProvider]] = defaultdict(list)
    for row in Provider.objects.filter(is_active=True).order_by("order", "pk"):
        active[row.capability].append(build_provider(row))
    return active


class Cache:
    """The active providers as this process last read them from the database."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        read: Callable[[], ActiveProviders] = read_active,
    ) -> None:
        self._clock = clock
        self._read = read
        self._read_at = float("-inf")
        self._known: ActiveProviders | None = None

    def get(self) -> ActiveProviders:
        """Return the active providers, read anew if FRESH_SECONDS have passed and the database may be read here.

        While the database is unavailable, return what was read before. A failed read does not break the caller's
        transaction.
        """
        now = self._clock()
        if now - self._read_at >= FRESH_SECONDS and not _is_in_loop() and not connection.needs_rollback:
            try:
                with transaction.atomic() if connection.in_atomic_block else nullcontext():
                    self._known = self._read()
            except DATABASE_UNAVAILABLE as error:
                log.warning("providers_not_read", error=type(error).__name__)
            if self._known is not None:
                self._read_at = now
        return self._known or {}

    def forget(self) -> None:
        """Have the next `get` read the database anew."""
        self._read_at = float("-inf")


_cache = Cache()
forget_providers = _cache.forget


@lru_cache(MAX_PEOPLE)
def _get_own_cache(user_id: int) -> Cache:
    return Cache(read=partial(_read_own, user_id))


def get_provider(capability: Capability = Capability.CHAT, model: str | None = None) -> ChatProvider:
    """Return the first provider in force that has the model. Raise ModelMissing if none has it.

    If `model` is None, return the first that has the preferred model, or else the first of all.
    """
    preference = get_preference()
    preferred = preference.chat_model if capability == Capability.CHAT else preference.background_model
    if model is None and preferred and (liked := find_providers(capability, preferred)):
        return liked[0]
    providers = find_providers(capability, model)
    if not providers:
        raise ModelMissing(f"No active provider has the model {model}")
    return providers[0]


def find_providers(
    capability: Capability = Capability.CHAT, model: str | None = None
) -> Sequence[ChatProvider]:
    """Return the providers in force, in order of fallback; only those that have the model, if one is named.

    If the person whom the preference names has an own provider of that model, return it alone: no other may stand in
    for it. For background work, the chat providers follow the background ones. What `make up` found is returned if the
    database has no provider, or none of that model.
    """
    user_id = get_preference().user_id
    if model and user_id and (own := [each for each in find_own(user_id) if each.model == model]):
        return _limit_context(own)
    environment = get_environment_provider()
    if is_set_by_environment():
        candidates: Sequence[ChatProvider] = [environment]
    else:
        active = _cache.get()
        capabilities = dict.fromkeys([capability, Capability.CHAT])
        candidates = [provider for wanted in capabilities for provider in active.get(wanted, ())]
    if model is None:
        return _limit_context(candidates or [environment])
    return _limit_context(
        [provider for provider in candidates if provider.model == model]
        or [provider for provider in [environment] if provider.model == model]
    )


def find_active(capability: Capability) -> Sequence[ChatProvider]:
    """Return the database's active providers in order of fallback, except those whose key cannot be decrypted."""
    return [row for row in _cache.get().get(capability, ()) if not row.has_lost_key]


def find_own(user_id: int) -> Sequence[ChatProvider]:
    """Return the person's own providers, each with a different model; none if the operator does not allow any."""
    return _get_own_cache(user_id).get().get(OWN, ()) if settings.OWN_PROVIDERS_EACH else ()


def find_fallbacks(
    provider: ChatProvider, capability: Capability = Capability.CHAT
) -> Sequence[ChatProvider]:
    """Return the other providers to ask if this one fails; for chat, only those that have the same model.

    Return none if `provider` is no longer in force, e.g. because it was chosen before a change.
    """
    model = provider.model if capability == Capability.CHAT else None
    in_force = find_providers(capability, model)
    return [other for other in in_force if other != provider] if provider in in_force else []


def leave_out_small(
    providers: Sequence[ChatProvider], messages: Messages, tools: Messages
) -> list[ChatProvider]:
    """Return the first provider, and the others whose context is as large or has room for the prompt and its answer.

    A provider with less is left out since some servers cut a prompt silently.
    """
    if len(providers) < 2:
        return list(providers)
    first, *others = providers
    needed = min(estimate_messages(messages, tools) + first.answer_tokens, first.context_tokens)
    return [first, *(other for other in others if other.context_tokens >= needed)]


def _limit_context(providers: Sequence[ChatProvider]) -> Sequence[ChatProvider]:
    """Return the providers with their context limited to the preferred one."""
    most = get_preference().context_tokens
    if most is None:
        return providers
    return [replace(provider, context_tokens=min(provider.context_tokens, most)) for provider in providers]


def is_rehearsal(model: str) -> bool:
    """Return whether the model is the rehearsal model in force, which is no language model."""
    environment = get_environment_provider()
    return environment.is_rehearsal and environment.model == model


def follow_change() -> None:
    """On commit, have this process read the rows anew and update the engines; others follow within FRESH_SECONDS."""
    transaction.on_commit(forget_providers)
    transaction.on_commit(lambda: want_engines(are_waiting=is_set_by_environment()))


def follow_own_change(user_id: int) -> None:
    """On commit, have this process read the person's own rows anew; others follow within FRESH_SECONDS."""
    transaction.on_commit(_get_own_cache(user_id).forget)


def get_sound_settings(capability: Capability) -> Mapping[str, Any]:
    """Return settings.SPEECH or settings.TRANSCRIPTION, with the first active provider's server if they name none.

    A provider whose key cannot be decrypted is skipped.
    """
    wanted = settings.SPEECH if capability == Capability.SPEECH else settings.TRANSCRIPTION
    if is_sound_set_by_environment(capability):
        return wanted
    chosen = next(iter(find_active(capability)), None)
    if chosen is None:
        return wanted
    server = {"base_url": chosen.base_url, "model": chosen.model, "api_key": chosen.api_key}
    return {**wanted, **server, "engine": "openai"}


def is_sound_set_by_environment(capability: Capability) -> bool:
    """Return whether the environment names a server or an engine for the capability, which then takes precedence."""
    if capability == Capability.SPEECH:
        return bool(settings.SPEECH["engine"] or settings.SPEECH["base_url"])
    return bool(settings.TRANSCRIPTION["base_url"])


def is_set_by_environment() -> bool:
    """Return whether the environment names the chat provider, which then takes precedence over the database's."""
    return bool(settings.CHAT["base_url"]) and not settings.CHAT_IS_FOUND


def get_environment_provider() -> ChatProvider:
    """Return the environment's provider, set by the operator or found by `make up`; without an address if neither."""
    chat, slots = settings.CHAT, settings.LLM_SLOTS
    if slots is None:
        slots = 0 if chat["is_rehearsal"] else count_slots(chat["base_url"])
    return ChatProvider(
        chat["base_url"], chat["model"], chat["api_key"], settings.CONTEXT_TOKENS, slots, chat["is_rehearsal"]
    )


def _read_own(user_id: int) -> ActiveProviders:
    """Return the person's own providers (one query)."""
    return {OWN: [build_own_provider(row) for row in OwnProvider.objects.owned_by(user_id)]}


@transaction.atomic
def choose_chat(
    name: str,
    base_url: str,
    model: str,
    *,
    api_key: str = "",
    context_tokens: int | None = None,
    slots: int | None = None,
    engine_file: str = "",
    threads: int | None = None,
) -> Provider:
    """Make this the first chat provider, and return its row. Raise ValidationError if a value is invalid.

    An existing row with this address and model is updated; it keeps its key, context and slots unless others are given.
    A provider that Kith's own engine runs has an `engine_file` and an empty `base_url`.
    """
    row = _get_or_create_row(Capability.CHAT, name, base_url, model, engine_file)
    row.context_tokens = context_tokens or row.context_tokens
    row.slots = row.slots if slots is None else slots
    row.threads = threads
    if api_key:
        row.api_key = api_key
    _put_first(row)
    return row


@transaction.atomic
def choose_embedder_file(name: str, model: str, engine_file: str) -> Provider:
    """Make this model file the first embedding provider, and return its row. Raise as `choose_chat` does."""
    row = _get_or_create_row(Capability.EMBEDDING, name, "", model, engine_file)
    _put_first(row)
    return row


def _get_or_create_row(
    capability: Capability, name: str, base_url: str, model: str, engine_file: str
) -> Provider:
    """Return the row without prefixes of this address and model, with this name and file."""
    Provider(name=name, base_url=base_url, model=model, engine_file=engine_file).clean_fields()
    row: Provider = Provider.objects.get_or_create(
        capability=capability,
        base_url=base_url,
        model=model,
        query_prefix="",
        document_prefix="",
        defaults={"name": name, "engine_file": engine_file},
    )[0]
    row.name, row.engine_file = name, engine_file
    return row


def _put_first(row: Provider) -> None:
    """Save the row as active, as the first of its capability, and with its last error cleared."""
    others = Provider.objects.filter(capability=row.capability, is_active=True).exclude(pk=row.pk)
    first = others.aggregate(first=Min("order"))["first"]
    row.order = 0 if first is None else first - 1
    row.is_active, row.last_error, row.last_error_at = True, "", None
    row.full_clean()
    row.save()
    follow_change()


def _is_in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
