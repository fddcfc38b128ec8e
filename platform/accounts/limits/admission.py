"""Limits on what one person, or one address if nobody is signed in, may have under way at once.

Until its sender is known, a request counts against its address, in this process alone. After that it is a visit of a
person (or of the address): their visits are counted in Redis over all processes, and one too many is refused (429).
Working on a visit takes one of the process's few places; the other visits queue, one person after the other in turn.
"""

import asyncio
import contextlib
import contextvars
import ipaddress
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from redis.exceptions import RedisError

from accounts.errors import GateError
from accounts.limits.places import places
from jobs.background import get_redis, one_per_loop

RETRY_AFTER_SECONDS = 2
SHARE_SECONDS = 60
RENEWAL_SECONDS = 20
REDIS_RETRY_SECONDS = 5.0  # before Redis is asked again after it failed
TAKE = """
local most, seconds, id = unpack(ARGV)
local now = tonumber(redis.call('TIME')[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(most) then return 0 end
redis.call('ZADD', KEYS[1], now + seconds, id)
redis.call('EXPIRE', KEYS[1], seconds)
return 1
"""
RENEW = """
local seconds, id = unpack(ARGV)
local now = tonumber(redis.call('TIME')[1])
redis.call('ZADD', KEYS[1], now + seconds, id)
redis.call('EXPIRE', KEYS[1], seconds)
"""


# -- counts of one address, before the sender is known ------------------------------------------------

_arrived: Counter[tuple[str, str]] = Counter()


def address_of(scope: Mapping[str, Any]) -> str:
    """Return the network (see `network_of`) of a request's or socket's client, seen through KITH_PROXIES proxies."""
    forwarded = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for")
    hops, proxies = forwarded.decode("latin-1").split(","), settings.ALLAUTH_TRUSTED_PROXY_COUNT
    is_forwarded = forwarded and 0 < proxies <= len(hops)
    return network_of(hops[-proxies].strip() if is_forwarded else (scope.get("client") or ("",))[0])


def network_of(peer: str) -> str:
    """Return the network to count `peer`, an IP address, as: an IPv4 address itself, or the /64 of an IPv6 address.

    One person usually has a whole /64. What is no IP address is counted as "unknown".
    """
    try:
        address = ipaddress.ip_address(peer)
    except ValueError:
        return "unknown"
    if address.version == 4:
        return str(address)
    # A dual-stack server sees IPv4 addresses as mapped IPv6 ones.
    return str(address.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False))


def arrive(kind: str, address: str) -> bool:
    """Count one more of the `kind` from the address; return False, uncounted, if it already has the maximum."""
    if settings.LIMITS and _arrived[kind, address] >= settings.OF_ONE_ADDRESS[kind]:
        return False
    _arrived[kind, address] += 1
    return True


def leave(kind: str, address: str) -> None:
    """Count one less of the `kind` from the address."""
    _arrived[kind, address] -= 1
    if not _arrived[kind, address]:
        del _arrived[kind, address]


@contextmanager
def arriving(kind: str, address: str) -> Iterator[None]:
    """Count one more of the `kind` from the address within the block; raise GateError (429) if there are too many."""
    if not arrive(kind, address):
        detail = _("Too much is coming from your address at once. Wait a moment, then try again.")
        raise GateError(f"too_many_{kind}_at_once", detail, RETRY_AFTER_SECONDS)
    try:
        yield
    finally:
        leave(kind, address)


# -- shares: how much one person has under way, over all processes ------------------------------------


@dataclass(frozen=True, slots=True)
class Share:
    """The right to have one thing of a kind under way, held by a person: `user:7`, or `address:::1`."""

    kind: str
    whose: str
    id: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def key(self) -> str:
        return f"kith:share:{self.kind}:{self.whose}"


class Shares:
    """The shares of one event loop, counted in Redis over all processes, or in this one alone while Redis is away.

    If a process dies, its shares expire in Redis after SHARE_SECONDS.
    """

    def __init__(self) -> None:
        self._held: set[Share] = set()
        self._here: Counter[str] = Counter()  # by key, including shares that are being taken
        self._away_until = 0.0
        self._renewing: asyncio.Task[None] | None = None

    async def take(self, kind: str, whose: str) -> Share:
        """Return a new share, to be given back afterwards; raise GateError (429) if the person has the maximum."""
        share, most = Share(kind, whose), settings.AT_ONCE[kind]
        self._here[share.key] += 1
        try:
            if self._here[share.key] > most or not await self._is_free(share, most):
                detail = _(
                    "You have too much going on at once. Wait until some of it is done, then try again."
                )
                raise GateError(f"too_many_{kind}_at_once", detail, RETRY_AFTER_SECONDS)
        except BaseException:
            self._leave(share)
            raise
        self._held.add(share)
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.create_task(self._renew(), context=contextvars.Context())
        return share

    async def give_back(self, share: Share) -> None:
        """End the share. While Redis is away, its record there is left to expire."""
        if share in self._held:
            self._held.discard(share)
            self._leave(share)
            with contextlib.suppress(RedisError, OSError):
                if time.monotonic() >= self._away_until:
                    await get_redis().zrem(share.key, share.id)

    async def _is_free(self, share: Share, most: int) -> bool:
        if time.monotonic() < self._away_until:
            return True  # counted in this process alone
        try:
            return bool(await get_redis().eval(TAKE, 1, share.key, str(most), str(SHARE_SECONDS), share.id))
        except (RedisError, OSError):
            self._away_until = time.monotonic() + REDIS_RETRY_SECONDS
            return True

    def _leave(self, share: Share) -> None:
        self._here[share.key] -= 1
        if not self._here[share.key]:
            del self._here[share.key]

    async def _renew(self) -> None:
        """Renew all held shares in Redis every RENEWAL_SECONDS, until none is held."""
        while self._held:
            await asyncio.sleep(RENEWAL_SECONDS)
            with contextlib.suppress(RedisError, OSError):
                for share in list(self._held):
                    if share in self._held:
                        await get_redis().eval(RENEW, 1, share.key, str(SHARE_SECONDS), share.id)


@one_per_loop
def shares() -> Shares:
    """Return the shares of the running event loop."""
    return Shares()


# -- visits -------------------------------------------------------------------------------------------


@dataclass
class Visit:
    """One request or socket while it is served, with the shares and the place that it holds."""

    address: str
    shares: list[Share] = field(default_factory=list)
    arrival: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    is_at_work: bool = False
    whose: str = ""
    is_over: bool = False  # what it began may go on in the background, uncounted

    def arrive(self) -> None:
        """Count the visit against its address until `begin`; raise GateError if there are too many."""
        self.arrival.enter_context(arriving("arrivals", self.address))

    async def begin(self, user_id: int | None) -> None:
        """Count the visit as the user's, or as its address's if None, and wait for a place; raise GateError."""
        self.arrival.close()
        await self.take("requests", user_id)
        await places("visits").acquire(self.whose)
        self.is_at_work = True

    async def take(self, kind: str, user_id: int | None = None) -> None:
        """Take a share of the `kind` until the visit ends; raise GateError if there are too many."""
        self.whose = self.whose or (f"user:{user_id}" if user_id else f"address:{self.address}")
        if settings.LIMITS and not self.is_over:
            self.shares.append(await shares().take(kind, self.whose))

    def step_aside(self) -> None:
        """Free the visit's place, e.g. before a wait for something other than the database."""
        if self.is_at_work:
            self.is_at_work = False
            places("visits").release(self.whose)

    async def end(self) -> None:
        """Free the visit's place, and give all its shares back."""
        self.is_over = True
        self.arrival.close()
        self.step_aside()
        while self.shares:
            await shares().give_back(self.shares.pop())


_visit: contextvars.ContextVar[Visit | None] = contextvars.ContextVar("visit", default=None)


@asynccontextmanager
async def visiting(address: str) -> AsyncIterator[Visit]:
    """Open a visit of the address, which is the current one within the block, and end it afterwards."""
    visit = Visit(address)
    token = _visit.set(visit)
    try:
        yield visit
    finally:
        _visit.reset(token)
        await asyncio.shield(visit.end())


def get_visit() -> Visit | None:
    """Return the current visit, or None outside of a web request or if KITH_LIMITS is off."""
    return _visit.get() if settings.LIMITS else None


async def take(kind: str) -> None:
    """Take a share of the `kind` until the current visit, if any, ends; raise GateError (429) if there are too many."""
    if visit := get_visit():
        await visit.take(kind)


def step_aside() -> None:
    """Free the current visit's place, since what follows waits for something other than the database."""
    if visit := get_visit():
        visit.step_aside()


def _place_for_visit(whose: str) -> AbstractAsyncContextManager[None]:
    return places("visits").at(whose) if settings.LIMITS else contextlib.nullcontext()


@asynccontextmanager
async def identifying() -> AsyncIterator[Visit | None]:
    """Yield the current visit, if any, and hold a place of its address within the block, which looks up its sender."""
    visit = get_visit()
    async with being_identified(visit) if visit else contextlib.nullcontext():
        yield visit


def being_identified(visit: Visit) -> AbstractAsyncContextManager[None]:
    """Hold a place of the visit's address for a block that looks up its sender."""
    return _place_for_visit(f"address:{visit.address}")


@asynccontextmanager
async def at_work(user_id: int) -> AsyncIterator[None]:
    """Hold a place of the person within the block. The current visit, if any, frees its own place first."""
    step_aside()
    async with _place_for_visit(f"user:{user_id}"):
        yield
