"""The guarded client: the only way to an address that a person, a card or a file has supplied.

The address is parsed once; its host is resolved once, all its IP addresses are checked, and the connection goes to one
that was checked. Size and time are limited, however slowly the other end sends. `send_request` follows no redirects;
`open_stream` follows them to addresses that are parsed, resolved and checked like the first.
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

CONNECT_TIMEOUT_SECONDS = 5.0  # each for resolving the name, for connecting, and for the TLS handshake
TIMEOUT_SECONDS = 20.0
MAX_BYTES = 65_536
MAX_REDIRECTS = 5
REDIRECTS = {301, 302, 303, 307, 308}
CARRIED_HEADERS = {"user-agent", "range", "if-range"}  # sent on after a redirect: no credentials
BLOCK_BYTES = 131_072  # of a stream: each block has to come within the stall time
STALL_SECONDS = 30.0
MAX_HOST_CHARACTERS = 253
# The global unicast range of IPv6: the rest is local, reserved, or embeds another address.
PUBLIC_IPV6 = ipaddress.ip_network("2000::/3")
# Excluded from it: 6to4 and Teredo, which lead to an embedded address, and the range for documentation.
EXCLUDED_IPV6 = [ipaddress.ip_network(block) for block in ("2002::/16", "2001::/32", "3fff::/20")]
Resolve = Callable[[str, int], Sequence[str]]


class OutboundError(Exception):
    """A request was not made, or got no whole answer. `code` is for records; the message holds no secrets."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request; its body is cut at the allowed size."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Stream:
    """The answer after all redirects; iterating over its `blocks` raises OutboundError if the body breaks off."""

    status: int
    headers: Message
    blocks: Iterator[bytes]


def resolve_host(host: str, port: int, timeout_seconds: float = CONNECT_TIMEOUT_SECONDS) -> Sequence[str]:
    """Return the IP addresses of the host. Raise OutboundError if none is found within `timeout_seconds`."""
    found: SimpleQueue[list[str]] = SimpleQueue()

    def look_up() -> None:
        with suppress(OSError, UnicodeError):
            addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found.put([str(address[4][0]) for address in addresses])
            return
        found.put([])

    Thread(target=look_up, daemon=True).start()
    ip_addresses: list[str] = []
    with suppress(Empty):  # a hostile name server may be arbitrarily slow
        ip_addresses = found.get(timeout=timeout_seconds)
    if not ip_addresses:
        raise OutboundError("no_such_host", "There is no such host.")
    return list(dict.fromkeys(ip_addresses))


def parse_address(url: str, allowed: Collection[str] | None = None) -> Url:
    """Return the parsed address. Raise OutboundError if it may not be asked. Its host is not resolved yet.

    `allowed` are `host:port` pairs that may always be asked; settings.OUTBOUND_ALLOWED if None.
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
    """Raise OutboundError unless the address may be asked, as its host resolves now. No request is made."""
    choose_ip_address(parse_address(url, allowed), resolve, allowed)


def is_public(ip_address: str) -> bool:
    """Return whether the IP address is on the public Internet; of an IPv4-mapped IPv6 address the IPv4 part decides."""
    address: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.ip_address(ip_address.split("%")[0])
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
    """Return the answer to one request, whatever its status. The timeout counts from the moment of being connected.

    Raise OutboundError if the address may not be asked, or no whole answer comes in time.
    """
    parts = parse_address(url)
    ip_address = choose_ip_address(parts, resolve)
    try:
        with _connect(parts, ip_address) as wire, _cut_after(wire, timeout_seconds):
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
    """Make a GET request, follow redirects, and yield the last answer, whose body is read as the caller iterates.

    Raise OutboundError with the code `redirect` if a redirect may not be followed or there are too many, `too_slow` if
    the head takes longer than TIMEOUT_SECONDS or a block longer than `stall_seconds`, or others as `send_request` does.
    """
    parts, sent = parse_address(url), dict(headers or {})
    for hop in range(MAX_REDIRECTS + 1):
        with ExitStack() as stack:
            try:
                wire = stack.enter_context(_connect(parts, choose_ip_address(parts, resolve)))
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
    """Return the target of a redirect. Raise OutboundError if it may not be asked, or leads from https to http."""
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
    """Return whether the operator allows this host and port in any case."""
    return f"{parts.host}:{_get_port(parts)}" in (settings.OUTBOUND_ALLOWED if allowed is None else allowed)


def _get_port(parts: Url) -> int:
    return parts.port or (80 if parts.scheme == "http" else 443)


def _bare_host(parts: Url) -> str:
    return (parts.host or "").strip("[]")


def choose_ip_address(
    parts: Url, resolve: Resolve = resolve_host, allowed: Collection[str] | None = None
) -> str:
    """Resolve the host and return one of its IP addresses.

    Raise OutboundError if there is none, or unless all are public or the host is allowed in any case.
    """
    ip_addresses = list(resolve(_bare_host(parts), _get_port(parts)))
    if not ip_addresses:
        raise OutboundError("no_such_host", "There is no such host.")
    if not _is_allowed(parts, allowed) and not all(map(is_public, ip_addresses)):
        raise OutboundError("not_public", "This host is not on the public Internet.")
    return ip_addresses[0]


@contextmanager
def _connect(parts: Url, ip_address: str) -> Iterator[socket.socket]:
    """Connect to the IP address; with https, check the certificate against the host's name."""
    with socket.create_connection((ip_address, _get_port(parts)), CONNECT_TIMEOUT_SECONDS) as plain:
        if parts.scheme == "http":
            yield plain
        else:
            context = ssl.create_default_context()
            with context.wrap_socket(plain, server_hostname=_bare_host(parts)) as encrypted:
                yield encrypted


@contextmanager
def _cut_after(wire: socket.socket, seconds: float) -> Iterator[None]:
    """Shut the connection down and raise OutboundError if the block takes longer than so many seconds."""
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
