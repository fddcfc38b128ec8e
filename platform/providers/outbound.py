"""The guarded client: the only way to an address that a person, a card or a file has supplied.

The address is read once; its name is looked up once, every number that it has is checked, and the connection goes to
one that was checked. There are no redirects, no more is read than is allowed, and however slowly the other end trickles,
it is over in time.
"""

import ipaddress
import socket
import ssl
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from queue import Empty, SimpleQueue
from threading import Event, Thread, Timer

from django.conf import settings
from urllib3.exceptions import LocationParseError
from urllib3.util import Url, parse_url

CONNECT_SECONDS = 5.0  # for looking the name up, for the connection, and for its encryption, each
MOST_SECONDS = 20.0
MOST_BYTES = 65_536
NAME_CHARACTERS = 253
# What was given out of IPv6 for the Internet: the rest is local, reserved, or holds another number.
GIVEN_OUT = ipaddress.ip_network("2000::/3")
# Of these, numbers that hold another one, whose end is not to be seen from here, and those for books.
NOT_ASKED = [ipaddress.ip_network(one) for one in ("2002::/16", "2001::/32", "3fff::/20")]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
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


def numbers_of(host: str, port: int) -> Sequence[str]:
    """The numbers that the host's name stands for; OutboundError where there is none, or none in time."""
    found: SimpleQueue[list[str]] = SimpleQueue()
    Thread(target=lambda: found.put(_looked_up(host, port)), daemon=True).start()
    try:  # a name's own server may be as slow as its owner likes
        numbers = found.get(timeout=CONNECT_SECONDS)
    except Empty:
        numbers = []
    if not numbers:
        raise OutboundError("no_such_host", "There is no such host.")
    return numbers


def _looked_up(host: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(one[4][0]) for one in found))


def checked(url: str) -> Url:
    """The address, read; OutboundError where nobody may ask there. Its host is looked up when it is asked."""
    try:
        parts = parse_url(url)
    except (LocationParseError, ValueError) as error:
        raise OutboundError("bad_address", "This is no address.") from error
    if parts.scheme != "https" and not _is_let(parts):
        raise OutboundError("not_https", "The address must begin with https://.")
    if parts.auth or not parts.host or len(parts.host) > NAME_CHARACTERS or "%" in parts.host:
        raise OutboundError("bad_address", "This is no address.")
    if parts.port not in (None, 443) and not _is_let(parts):
        raise OutboundError("bad_port", "Only the usual port of https is asked.")
    return parts


def require_public(url: str, *, resolve: Resolve = numbers_of) -> None:
    """Return where the address may be asked as its host is now; OutboundError where not. Nothing is asked."""
    _number(checked(url), resolve)


def is_public(number: str) -> bool:
    """Whether the number is one of the open Internet, whatever it is wrapped in."""
    address: Address = ipaddress.ip_address(number.split("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            address = address.ipv4_mapped
        elif address not in GIVEN_OUT or any(address in network for network in NOT_ASKED):
            return False
    return address.is_global and not address.is_multicast


def ask(
    method: str,
    url: str,
    *,
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    most_bytes: int = MOST_BYTES,
    most_seconds: float = MOST_SECONDS,
    resolve: Resolve = numbers_of,
) -> Answer:
    """What the address answers to one request, whatever its status is; `most_seconds` from being connected on.

    OutboundError where nobody may ask there, or nothing whole comes back in time.
    """
    parts = checked(url)
    number = _number(parts, resolve)
    told = {**(headers or {}), "Host": parts.netloc or ""}
    try:
        with _connected(parts, number) as wire, _cut_after(wire, most_seconds):
            return _asked(wire, method, parts, body, told, most_bytes)
    except (HTTPException, OSError, UnicodeError, ValueError) as error:
        raise OutboundError("unreachable", type(error).__name__) from error


def _is_let(parts: Url) -> bool:
    """Whether the operator has named this host and port as one of their own."""
    return f"{parts.host}:{parts.port or 443}" in settings.OUTBOUND_ALLOWED


def _host(parts: Url) -> str:
    return (parts.host or "").strip("[]")


def _number(parts: Url, resolve: Resolve) -> str:
    """One that was checked; a name that stands for anything of ours beside is refused as a whole."""
    every = list(resolve(_host(parts), parts.port or 443))
    if not every:
        raise OutboundError("no_such_host", "There is no such host.")
    if not _is_let(parts) and not _are_public(every):
        raise OutboundError("not_public", "This host is not on the open Internet.")
    return every[0]


def _are_public(numbers: Iterable[str]) -> bool:
    return all(map(is_public, numbers))


@contextmanager
def _connected(parts: Url, number: str) -> Iterator[socket.socket]:
    """A connection to the number, encrypted for the host's name, with a certificate that is that name's."""
    with socket.create_connection((number, parts.port or 443), CONNECT_SECONDS) as plain:
        if parts.scheme == "http":
            yield plain
        else:
            trusting = ssl.create_default_context()
            with trusting.wrap_socket(plain, server_hostname=_host(parts)) as encrypted:
                yield encrypted


@contextmanager
def _cut_after(wire: socket.socket, seconds: float) -> Iterator[None]:
    """Cuts the connection then, even within a byte: OutboundError, whatever had come by then."""
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
    except (HTTPException, OSError, ValueError, OutboundError):
        if not is_late.is_set():
            raise
    finally:
        timer.cancel()
    if is_late.is_set():
        raise OutboundError("too_slow", "The answer did not end in time.")


def _asked(
    wire: socket.socket,
    method: str,
    parts: Url,
    body: bytes,
    headers: Mapping[str, str],
    most_bytes: int,
) -> Answer:
    connection = HTTPConnection(parts.host or "")
    connection.sock = wire
    connection.request(method, parts.request_uri, body=body, headers={**headers, "Connection": "close"})
    response = connection.getresponse()
    came = _read(response, most_bytes)
    return Answer(response.status, dict(response.headers), came)


def _read(response: HTTPResponse, most_bytes: int) -> bytes:
    came = response.read(most_bytes)
    if len(came) < most_bytes and response.length:
        raise OutboundError("unreachable", "The answer ended too soon.")
    return came
