"""The guarded client: the only way to an address that a person, a card or a file has supplied.

The address is read once; its name is looked up once, every number that it has is checked, and the connection goes to
one that was checked. No more is read than is allowed, and however slowly the other end trickles, it is over in time.
`send_request` is not redirected. `open_stream` is, to addresses that are read, looked up and checked as the first was.
"""

import ipaddress
import socket
import ssl
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPConnection, HTTPException, HTTPResponse
from queue import Empty, SimpleQueue
from threading import Event, Thread, Timer
from urllib.parse import urljoin

from django.conf import settings
from urllib3.exceptions import LocationParseError
from urllib3.util import Url, parse_url

CONNECT_TIMEOUT_SECONDS = 5.0  # for looking the name up, for the connection, and for its encryption, each
TIMEOUT_SECONDS = 20.0
MAX_BYTES = 65_536
MAX_REDIRECTS = 5
REDIRECTS = {301, 302, 303, 307, 308}
CARRIED_HEADERS = {"user-agent", "range", "if-range"}  # to where a redirect leads; nothing that opens a door
BLOCK_BYTES = 131_072  # of a stream: so much has to come within its stall time
STALL_SECONDS = 30.0
MAX_HOST_CHARACTERS = 253
# What was given out of IPv6 for the Internet: the rest is local, reserved, or holds another number.
PUBLIC_IPV6 = ipaddress.ip_network("2000::/3")
# Of these, numbers that hold another one, whose end is not to be seen from here, and those for books.
EXCLUDED_IPV6 = [ipaddress.ip_network(block) for block in ("2002::/16", "2001::/32", "3fff::/20")]
Resolve = Callable[[str, int], Sequence[str]]


class OutboundError(Exception):
    """Why nothing was asked, or nothing came back; `code` is for records. Nothing secret is in the words."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


@dataclass(frozen=True, slots=True)
class Answer:
    """What the other end said, its body cut at what is allowed."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Stream:
    """What the other end said last, its body in blocks as they come; OutboundError from them where it breaks off."""

    status: int
    headers: Message
    blocks: Iterator[bytes]


def resolve_host(host: str, port: int, timeout_seconds: float = CONNECT_TIMEOUT_SECONDS) -> Sequence[str]:
    """Return the numbers that the host's name stands for; OutboundError where there is none, or none in time."""
    found: SimpleQueue[list[str]] = SimpleQueue()

    def look_up() -> None:
        with suppress(OSError, UnicodeError):
            addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found.put([str(address[4][0]) for address in addresses])
            return
        found.put([])

    Thread(target=look_up, daemon=True).start()
    numbers: list[str] = []
    with suppress(Empty):  # a name's own server may be as slow as its owner likes
        numbers = found.get(timeout=timeout_seconds)
    if not numbers:
        raise OutboundError("no_such_host", "There is no such host.")
    return list(dict.fromkeys(numbers))


def parse_address(url: str, allowed: Collection[str] | None = None) -> Url:
    """Return the address, read; OutboundError where nobody may ask there. Its host is looked up when it is asked.

    `allowed` are hosts with their ports that may be asked in any case, settings.OUTBOUND_ALLOWED where none are given.
    """
    try:
        parts = parse_url(url)
    except (LocationParseError, ValueError) as error:
        raise OutboundError("bad_address", "This is no address.") from error
    if parts.scheme != "https" and not _is_allowed(parts, allowed):
        raise OutboundError("not_https", "The address must begin with https://.")
    if parts.auth or not parts.host or len(parts.host) > MAX_HOST_CHARACTERS or "%" in parts.host:
        raise OutboundError("bad_address", "This is no address.")
    if parts.port not in (None, 443) and not _is_allowed(parts, allowed):
        raise OutboundError("bad_port", "Only the usual port of https is asked.")
    return parts


def require_public(
    url: str, *, resolve: Resolve = resolve_host, allowed: Collection[str] | None = None
) -> None:
    """Return where the address may be asked as its host is now; OutboundError where not. Nothing is asked."""
    choose_number(parse_address(url, allowed), resolve, allowed)


def is_public(number: str) -> bool:
    """Return whether the number is one of the open Internet, whatever it is wrapped in."""
    address: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.ip_address(number.split("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            address = address.ipv4_mapped
        elif address not in PUBLIC_IPV6 or any(address in block for block in EXCLUDED_IPV6):
            return False
    return address.is_global and not address.is_multicast


def send_request(
    method: str,
    url: str,
    *,
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    max_bytes: int = MAX_BYTES,
    timeout_seconds: float = TIMEOUT_SECONDS,
    resolve: Resolve = resolve_host,
) -> Answer:
    """Return what the address answers to one request, whatever its status; the time-out counts from being connected.

    OutboundError where nobody may ask there, or nothing whole comes back in time.
    """
    parts = parse_address(url)
    number = choose_number(parts, resolve)
    try:
        with _connect(parts, number) as wire, _cut_after(wire, timeout_seconds):
            response = _ask(wire, parts, method, body, headers or {})
            read = response.read(max_bytes)
            if len(read) < max_bytes and response.length:
                raise OutboundError("unreachable", "The answer ended too soon.")
            return Answer(response.status, dict(response.headers), read)
    except (HTTPException, OSError, UnicodeError, ValueError) as error:
        raise OutboundError("unreachable", type(error).__name__) from error


@contextmanager
def open_stream(
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    stall_seconds: float = STALL_SECONDS,
    resolve: Resolve = resolve_host,
) -> Iterator[Stream]:
    """Get what the address answers, or the last of those that it redirects to; the body is read as the caller goes on.

    OutboundError: `redirect` where one leads to where nobody may ask, or to yet another; `too_slow` where the head
    takes longer than TIMEOUT_SECONDS, or a block than `stall_seconds`.
    """
    parts, sent = parse_address(url), dict(headers or {})
    for hop in range(MAX_REDIRECTS + 1):
        with ExitStack() as stack:
            try:
                wire = stack.enter_context(_connect(parts, choose_number(parts, resolve)))
                with _cut_after(wire, TIMEOUT_SECONDS):
                    response = _ask(wire, parts, "GET", b"", sent)
            except OutboundError as error:
                if hop and error.code == "not_public":
                    raise OutboundError("redirect", str(error)) from error
                raise
            except (HTTPException, OSError, UnicodeError, ValueError) as error:
                raise OutboundError("unreachable", type(error).__name__) from error
            if response.status not in REDIRECTS:
                yield Stream(response.status, response.headers, _read_blocks(wire, response, stall_seconds))
                return
        parts = _parse_redirect(parts, response.headers.get("Location", ""))
        sent = {name: value for name, value in sent.items() if name.lower() in CARRIED_HEADERS}
    raise OutboundError("redirect", f"It is redirected more than {MAX_REDIRECTS} times.")


def _parse_redirect(parts: Url, location: str) -> Url:
    """Return where a redirect leads; OutboundError where nobody may ask there, or encryption would be given up."""
    try:
        target = parse_address(urljoin(parts.url, location))
    except (OutboundError, ValueError) as error:
        raise OutboundError("redirect", str(error)) from error
    if parts.scheme == "https" and target.scheme != "https":
        raise OutboundError("redirect", "It is redirected to an address without encryption.")
    return target


def _read_blocks(wire: socket.socket, response: HTTPResponse, stall_seconds: float) -> Iterator[bytes]:
    while not response.isclosed():
        try:
            with _cut_after(wire, stall_seconds):
                block = response.read(BLOCK_BYTES)
        except (HTTPException, OSError, ValueError) as error:
            raise OutboundError("unreachable", type(error).__name__) from error
        if len(block) < BLOCK_BYTES and response.length:
            raise OutboundError("unreachable", "The answer ended too soon.")
        if block:
            yield block


def _ask(
    wire: socket.socket, parts: Url, method: str, body: bytes, headers: Mapping[str, str]
) -> HTTPResponse:
    connection = HTTPConnection(parts.host or "")
    connection.sock = wire
    sent = {**headers, "Host": parts.netloc or "", "Connection": "close"}
    connection.request(method, parts.request_uri, body=body, headers=sent)
    return connection.getresponse()


def _is_allowed(parts: Url, allowed: Collection[str] | None) -> bool:
    """Return whether the operator has named this host and port as one of their own."""
    return f"{parts.host}:{_get_port(parts)}" in (settings.OUTBOUND_ALLOWED if allowed is None else allowed)


def _get_port(parts: Url) -> int:
    return parts.port or (80 if parts.scheme == "http" else 443)


def _bare_host(parts: Url) -> str:
    return (parts.host or "").strip("[]")


def choose_number(parts: Url, resolve: Resolve = resolve_host, allowed: Collection[str] | None = None) -> str:
    """Return a number that was checked; a name that stands for anything of ours beside is refused as a whole."""
    numbers = list(resolve(_bare_host(parts), _get_port(parts)))
    if not numbers:
        raise OutboundError("no_such_host", "There is no such host.")
    if not _is_allowed(parts, allowed) and not all(map(is_public, numbers)):
        raise OutboundError("not_public", "This host is not on the open Internet.")
    return numbers[0]


@contextmanager
def _connect(parts: Url, number: str) -> Iterator[socket.socket]:
    """Connect to the number, encrypted for the host's name, with a certificate that is that name's."""
    with socket.create_connection((number, _get_port(parts)), CONNECT_TIMEOUT_SECONDS) as plain:
        if parts.scheme == "http":
            yield plain
        else:
            context = ssl.create_default_context()
            with context.wrap_socket(plain, server_hostname=_bare_host(parts)) as encrypted:
                yield encrypted


@contextmanager
def _cut_after(wire: socket.socket, seconds: float) -> Iterator[None]:
    """Cut the connection then, even within a byte: OutboundError, whatever had come by then."""
    is_late = Event()

    def cut() -> None:
        is_late.set()
        with suppress(OSError):
            socket.socket.shutdown(wire, socket.SHUT_RDWR)

    wire.settimeout(seconds)
    timer = Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    except TimeoutError:
        is_late.set()
    except (HTTPException, OSError, ValueError, OutboundError):
        if not is_late.is_set():
            raise
    finally:
        timer.cancel()
    if is_late.is_set():
        raise OutboundError("too_slow", "The answer did not end in time.")
