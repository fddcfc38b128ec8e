"""What one person, or one address where nobody is signed in, may have under way at once.

Before it is known whose a request is, it is counted in this process as one of its address. Then it is a visit of
somebody's: how many they have under way is counted in Redis, and whoever has too many is refused (429). A visit is
worked on in a place, of which a process has few; the others wait their turn, person after person.
"""

import asyncio
import contextlib
import contextvars
import ipaddress
import time
import uuid
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from redis.exceptions import RedisError

from accounts.errors import GateError
from jobs.background import get_redis, one_per_loop

RETRY_AFTER_SECONDS = 2
LEASE_SECONDS = 60
RENEWAL_SECONDS = 20
REDIS_RETRY_SECONDS = 5.0  # before Redis is asked again after it failed
TAKE = """
local now = tonumber(redis.call('TIME')[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
"""
RENEW = """
local now = tonumber(redis.call('TIME')[1])
redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[1])
"""


# -- of one address, before it is known whose it is ---------------------------------------------------

_arrived: Counter[tuple[str, str]] = Counter()


def address_of(scope: Mapping[str, Any]) -> str:
    """Return where a request or a socket comes from, as the proxies that KITH_PROXIES counts say; of IPv6 the network."""
    forwarded = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for")
    hops, proxies = forwarded.decode("latin-1").split(","), settings.ALLAUTH_TRUSTED_PROXY_COUNT
    is_forwarded = forwarded and 0 < proxies <= len(hops)
    return network_of(hops[-proxies].strip() if is_forwarded else (scope.get("client") or ("",))[0])


def network_of(peer: str) -> str:
    """Return whom an IP address belongs to: itself, or of IPv6 the network of 64 bits, which one person has whole."""
    try:
        address = ipaddress.ip_address(peer)
    except ValueError:
        return "unknown"
    if address.version == 4:
        return str(address)
    # A server that listens to both sees an IPv4 address as one of IPv6.
    return str(address.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False))


def arrive(kind: str, address: str) -> bool:
    """Count one more of the kind from the address; False where there are as many as may be."""
    if settings.LIMITS and _arrived[kind, address] >= settings.OF_ONE_ADDRESS[kind]:
        return False
    _arrived[kind, address] += 1
    return True


def leave(kind: str, address: str) -> None:
    """Count one less."""
    _arrived[kind, address] -= 1
    if not _arrived[kind, address]:
        del _arrived[kind, address]


@contextmanager
def arriving(kind: str, address: str) -> Iterator[None]:
    """Count one more of the kind from the address within the block; GateError (429) where there are too many."""
    if not arrive(kind, address):
        detail = _("Too much comes from your address at once. Wait a moment, then try again.")
        raise GateError(f"too_many_{kind}_at_once", detail, RETRY_AFTER_SECONDS)
    try:
        yield
    finally:
        leave(kind, address)


# -- places at work in this process -------------------------------------------------------------------


class Places:
    """Up to `most` at work, and up to `most_each` of one person.

    Of those who wait, the next is the first of the person who has waited longest since one of theirs was served: whoever
    asks a hundred things at once has their answers one after the other, and everybody else has theirs between.
    """

    def __init__(self, most: int, most_each: int) -> None:
        self._most, self._most_each = most, most_each
        self._busy: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}  # in the order in which they are served

    async def acquire(self, whose: str) -> None:
        """Take a place, or wait for one."""
        if whose not in self._waiting and self._is_free(whose):
            self._busy[whose] += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(whose, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it was served in the same moment
                self.release(whose)
            else:
                waiting = self._waiting.get(whose, deque())
                if turn in waiting:
                    waiting.remove(turn)
                if not waiting:
                    self._waiting.pop(whose, None)
            raise

    def release(self, whose: str) -> None:
        """Leave the place to whoever is next."""
        self._busy[whose] -= 1
        if not self._busy[whose]:
            del self._busy[whose]
        for person in list(self._waiting):
            if self._is_free(person) and self._serve(person):
                return

    @asynccontextmanager
    async def at(self, whose: str) -> AsyncIterator[None]:
        """Take a place for the block."""
        await self.acquire(whose)
        try:
            yield
        finally:
            self.release(whose)

    def _is_free(self, whose: str) -> bool:
        return self._busy.total() < self._most and self._busy[whose] < self._most_each

    def _serve(self, whose: str) -> bool:
        """Give a place to the person's first; False where those who waited have all just been cancelled."""
        turns = self._waiting.pop(whose)
        while turns:
            turn = turns.popleft()
            if not turn.done():
                turn.set_result(None)
                self._busy[whose] += 1
                if turns:
                    self._waiting[whose] = turns  # behind all others
                return True
        return False


@one_per_loop
def _get_places() -> dict[str, Places]:
    return {kind: Places(*counts) for kind, counts in settings.AT_WORK.items()}


def places(kind: str) -> Places:
    """Return those of the running event loop: `visits` of people, or `turns` of their companions."""
    return _get_places()[kind]


def _place_for_visit(whose: str) -> AbstractAsyncContextManager[None]:
    return places("visits").at(whose) if settings.LIMITS else contextlib.nullcontext()


# -- shares: how much somebody has under way, over all processes --------------------------------------


@dataclass(frozen=True, slots=True)
class Lease:
    """One thing under way, of a kind and of somebody: `user:7`, `address:::1`."""

    kind: str
    whose: str
    id: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def key(self) -> str:
        return f"kith:share:{self.kind}:{self.whose}"


class Shares:
    """The leases of one event loop, counted in Redis; without Redis, in this process by itself.

    A lease ends by itself where its process dies.
    """

    def __init__(self) -> None:
        self._held: set[Lease] = set()
        self._here: Counter[str] = Counter()  # by the leases' keys, with those that are being taken
        self._away_until = 0.0
        self._renewing: asyncio.Task[None] | None = None

    async def take(self, kind: str, whose: str) -> Lease:
        """Return a lease of the kind, to be given back; GateError (429) where there are as many as may be."""
        lease, most = Lease(kind, whose), settings.AT_ONCE[kind]
        self._here[lease.key] += 1
        try:
            if self._here[lease.key] > most or not await self._is_free(lease, most):
                detail = _(
                    "You have too much under way at once. Wait until some of it is done, then try again."
                )
                raise GateError(f"too_many_{kind}_at_once", detail, RETRY_AFTER_SECONDS)
        except BaseException:
            self._leave(lease)
            raise
        self._held.add(lease)
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.create_task(self._renew(), context=contextvars.Context())
        return lease

    async def give_back(self, lease: Lease) -> None:
        """End the lease; without Redis it ends there by itself."""
        if lease in self._held:
            self._held.discard(lease)
            self._leave(lease)
            with contextlib.suppress(RedisError, OSError):
                if time.monotonic() >= self._away_until:
                    await get_redis().zrem(lease.key, lease.id)

    async def _is_free(self, lease: Lease, most: int) -> bool:
        if time.monotonic() < self._away_until:
            return True  # counted here alone
        try:
            return bool(await get_redis().eval(TAKE, 1, lease.key, str(most), str(LEASE_SECONDS), lease.id))
        except (RedisError, OSError):
            self._away_until = time.monotonic() + REDIS_RETRY_SECONDS
            return True

    def _leave(self, lease: Lease) -> None:
        self._here[lease.key] -= 1
        if not self._here[lease.key]:
            del self._here[lease.key]

    async def _renew(self) -> None:
        """Keep the leases of what takes long; it ends when nothing is held."""
        while self._held:
            await asyncio.sleep(RENEWAL_SECONDS)
            with contextlib.suppress(RedisError, OSError):
                for lease in list(self._held):
                    if lease in self._held:
                        await get_redis().eval(RENEW, 1, lease.key, str(LEASE_SECONDS), lease.id)


@one_per_loop
def shares() -> Shares:
    """Return those of the running event loop."""
    return Shares()


# -- visits -------------------------------------------------------------------------------------------


@dataclass
class Visit:
    """One request or socket on its way, and what it holds."""

    address: str
    leases: list[Lease] = field(default_factory=list)
    arrival: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    is_at_work: bool = False
    whose: str = ""
    is_over: bool = False  # whatever it began may go on in the background, and counts no more

    def arrive(self) -> None:
        """Count it as one of its address until it is known whose it is; GateError."""
        self.arrival.enter_context(arriving("arrivals", self.address))

    async def begin(self, user_id: int | None) -> None:
        """Go on as this person's visit, or as the address's; wait for a place at work. GateError."""
        self.arrival.close()
        await self.take("requests", user_id)
        await places("visits").acquire(self.whose)
        self.is_at_work = True

    async def take(self, kind: str, user_id: int | None = None) -> None:
        """Count one more of the kind as under way until the visit ends. GateError."""
        self.whose = self.whose or (f"user:{user_id}" if user_id else f"address:{self.address}")
        if settings.LIMITS and not self.is_over:
            self.leases.append(await shares().take(kind, self.whose))

    def step_aside(self) -> None:
        """Leave the place at work, before a wait for something else than the database."""
        if self.is_at_work:
            self.is_at_work = False
            places("visits").release(self.whose)

    async def end(self) -> None:
        """Give everything back."""
        self.is_over = True
        self.arrival.close()
        self.step_aside()
        while self.leases:
            await shares().give_back(self.leases.pop())


_visit: contextvars.ContextVar[Visit | None] = contextvars.ContextVar("visit", default=None)


@asynccontextmanager
async def visiting(address: str) -> AsyncIterator[Visit]:
    """Within the block a visit is under way."""
    visit = Visit(address)
    token = _visit.set(visit)
    try:
        yield visit
    finally:
        _visit.reset(token)
        await asyncio.shield(visit.end())


def get_visit() -> Visit | None:
    """Return the visit under way; None outside of a web server's, and where limits are off."""
    return _visit.get() if settings.LIMITS else None


async def take(kind: str) -> None:
    """Count one more of the kind as under way, until the visit ends; GateError (429) where there are too many."""
    if visit := get_visit():
        await visit.take(kind)


def step_aside() -> None:
    """Let others of this person be worked on, since what follows waits for something else."""
    if visit := get_visit():
        visit.step_aside()


@asynccontextmanager
async def identifying() -> AsyncIterator[Visit | None]:
    """Within the block it is looked up whose the visit under way is, which then begins."""
    visit = get_visit()
    async with being_identified(visit) if visit else contextlib.nullcontext():
        yield visit


def being_identified(visit: Visit) -> AbstractAsyncContextManager[None]:
    """Within the block it is looked up whose the visit is, in a place of its address."""
    return _place_for_visit(f"address:{visit.address}")


@asynccontextmanager
async def at_work(user_id: int) -> AsyncIterator[None]:
    """Within the block something is done for the person, in a place of theirs; a visit under way leaves its own."""
    step_aside()
    async with _place_for_visit(f"user:{user_id}"):
        yield
