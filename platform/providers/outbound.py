"""The guarded client: the only way to an address that a person, a card or a file has supplied.

The address is read once; its name is looked up once, every number that it has is checked, and the connection goes to
one that was checked. There are no redirects, and no more is read than is allowed.
"""

import ipaddress
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

import urllib3
from django.conf import settings
from urllib3.exceptions import HTTPError, LocationParseError
from urllib3.util import Url, parse_url

CONNECT_SECONDS = 5.0
MOST_SECONDS = 20.0
MOST_BYTES = 65_536
PIECE_BYTES = 8192
NAME_CHARACTERS = 253
# Numbers that hold another one, for networks in between: what they lead to is not to be seen from here.
TRANSLATED = [
    ipaddress.ip_network(one) for one in ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32")
]
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
    """The numbers that the host's name stands for; OutboundError where there is none."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise OutboundError("no_such_host", "There is no such host.") from error
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


def is_public(number: str) -> bool:
    """Whether the number is one of the open Internet, whatever it is wrapped in."""
    address: Address = ipaddress.ip_address(number.split("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            address = address.ipv4_mapped
        elif any(address in network for network in TRANSLATED):
            return False
    return address.is_global and not address.is_multicast


def ask(
    method: str,
    url: str,
    *,
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    most_bytes: int = MOST_BYTES,
    resolve: Resolve = numbers_of,
) -> Answer:
    """What the address answers to one request, within twenty seconds; whatever its status is.

    OutboundError where nobody may ask there, or nothing whole comes back.
    """
    parts = checked(url)
    host, port = (parts.host or "").strip("[]"), parts.port or 443
    number = _number(resolve(host, port), is_let=_is_let(parts))
    pool = _pool(parts, number, host, port)
    try:
        return _asked(
            pool, method, parts, body, {**(headers or {}), "Host": parts.netloc or host}, most_bytes
        )
    except (HTTPError, OSError, UnicodeError, ValueError) as error:
        raise OutboundError("unreachable", type(error).__name__) from error
    finally:
        pool.close()


def _is_let(parts: Url) -> bool:
    """Whether the operator has named this host and port as one of their own."""
    return f"{parts.host}:{parts.port or 443}" in settings.OUTBOUND_ALLOWED


def _number(numbers: Iterable[str], *, is_let: bool) -> str:
    """One that was checked; a name that stands for anything of ours beside is refused as a whole."""
    every = list(numbers)
    if not every:
        raise OutboundError("no_such_host", "There is no such host.")
    if not is_let and not all(map(is_public, every)):
        raise OutboundError("not_public", "This host is not on the open Internet.")
    return every[0]


def _pool(parts: Url, number: str, host: str, port: int) -> urllib3.HTTPConnectionPool:
    timeout = urllib3.Timeout(connect=CONNECT_SECONDS, read=MOST_SECONDS)
    common: dict[str, Any] = {"port": port, "timeout": timeout, "retries": False, "maxsize": 1}
    if parts.scheme == "http":
        return urllib3.HTTPConnectionPool(number, **common)
    return urllib3.HTTPSConnectionPool(
        number, **common, server_hostname=host, assert_hostname=host, cert_reqs="CERT_REQUIRED"
    )


def _asked(
    pool: urllib3.HTTPConnectionPool,
    method: str,
    parts: Url,
    body: bytes,
    headers: Mapping[str, str],
    most_bytes: int,
) -> Answer:
    until = monotonic() + MOST_SECONDS
    response = pool.urlopen(
        method, parts.request_uri, body=body, headers=headers, redirect=False, preload_content=False
    )
    came = b""
    for piece in response.stream(PIECE_BYTES, decode_content=False):
        came += piece
        if len(came) >= most_bytes:
            break
        if monotonic() > until:
            raise OutboundError("too_slow", "The answer did not end in time.")
    return Answer(response.status, dict(response.headers), came[:most_bytes])
