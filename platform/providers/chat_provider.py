"""How a model's server is asked: its address, key, context and limits, from the operator's row or a person's own."""

import ipaddress
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from django.conf import settings

from database.encryption import DecryptionError
from providers.engine.plan import DRY_MULTIPLIER
from providers.engine.registry import NOT_STARTED, read_running
from providers.errors import ProviderRefused
from providers.models import OwnProvider, Provider

OWN_SLOTS = 2  # how many calls of the worker may run at once on all own providers of one person
OWN = "own"  # recorded instead of the address of a person's own provider, which is private


@dataclass(frozen=True, slots=True)
class ChatProvider:
    """A server, a model on it, and what it can do.

    `id` is that of its row, or None if the environment set it. `user_id` is the person whose own provider it is, or
    None if it is the operator's.
    """

    base_url: str
    model: str
    api_key: str = field(repr=False)
    context_tokens: int
    slots: int
    is_rehearsal: bool = False
    id: int | None = None
    dry_multiplier: float | None = None
    user_id: int | None = None
    has_lost_key: bool = False  # KITH_ENCRYPTION_KEY cannot decrypt its key: it is not asked
    requests_per_minute: int | None = None
    tokens_per_day: int | None = None
    query_prefix: str = ""
    document_prefix: str = ""

    @property
    def is_own(self) -> bool:
        return self.user_id is not None

    @property
    def place(self) -> str:
        """Return what records call the provider: its address, or OWN for a person's own."""
        return OWN if self.is_own else self.base_url

    @property
    def answer_tokens(self) -> int:
        """Return how many tokens an answer in a talk may have: less in proportion where the context is smaller than
        CONTEXT_TOKENS, since the talk needs room, too.
        """
        share = min(self.context_tokens / settings.CONTEXT_TOKENS, 1)
        return max(int(settings.ANSWER_TOKENS * share), 1)

    def require_key(self) -> str:
        """Return the key, or an empty string if it needs none. Raise ProviderRefused if the key cannot be decrypted."""
        if self.has_lost_key:
            raise ProviderRefused("KITH_ENCRYPTION_KEY no longer opens this provider's key", status=401)
        return self.api_key


def build_provider(row: Provider) -> ChatProvider:
    """Return how the row's provider is asked. For Kith's own engine, address and key are those of the present run."""
    most = int(settings.EMBEDDING.get("max_tokens", 0)) if row.is_embedder else settings.CONTEXT_TOKENS
    key = _open_key(row)
    provider = ChatProvider(
        row.base_url,
        row.model,
        key or "",
        row.context_tokens or most,
        count_slots(row.base_url) if row.slots is None else row.slots,
        id=row.pk,
        has_lost_key=key is None,
        requests_per_minute=row.requests_per_minute,
        tokens_per_day=row.tokens_per_day,
        query_prefix=row.query_prefix,
        document_prefix=row.document_prefix,
    )
    if not row.engine_file:
        return provider
    return replace(
        provider,
        base_url=read_running(settings.KITH_HOME).get(row.pk, NOT_STARTED).base_url,
        api_key=settings.ENGINE_KEY,
        slots=row.slots or 1,
        dry_multiplier=DRY_MULTIPLIER,
        has_lost_key=False,
    )


def build_own_provider(row: OwnProvider) -> ChatProvider:
    """Return how a person's own provider is asked: by at most OWN_SLOTS of the worker's calls at once."""
    key = _open_key(row)
    return ChatProvider(
        row.base_url,
        row.model,
        key or "",
        row.context_tokens or settings.CONTEXT_TOKENS,
        slots=OWN_SLOTS,
        id=row.pk,
        user_id=row.user_id,
        has_lost_key=key is None,
    )


def _open_key(row: Provider | OwnProvider) -> str | None:
    """Return the row's key, or None if KITH_ENCRYPTION_KEY no longer decrypts it."""
    try:
        return row.api_key
    except DecryptionError:
        return None


def count_slots(base_url: str) -> int:
    """Return how many requests a chat server is assumed to answer at once: 1 on this machine or in its local network.

    Return 0, which means no limit, for a server elsewhere or an address without a host.
    """
    host = urlsplit(base_url).hostname or ""
    if not host:
        return 0
    try:
        is_near = ipaddress.ip_address(host).is_private
    except ValueError:
        is_near = "." not in host or host.endswith((".local", ".internal", ".localhost", ".lan"))
    return 1 if is_near else 0
