"""Web Push: a payload encrypted for one browser (RFC 8291), and the header that names the sender (VAPID, RFC 8292)."""

import base64
import binascii
import re
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02, VapidException

BASE64URL = re.compile(r"[A-Za-z0-9_-]*={0,2}")
POINT_BYTES = 65
SECRET_BYTES = 16
SIGNATURE_LIFETIME = timedelta(hours=12)  # RFC 8292 allows a day; clocks differ


class WebPushError(Exception):
    """A key is invalid, or the header for an address cannot be signed."""


def parse_browser_keys(p256dh: str, auth: str) -> tuple[bytes, bytes]:
    """Return a browser's public key (65 bytes, a point on P-256) and its secret (16 bytes).

    Raise WebPushError if either is invalid.
    """
    public_key, auth_secret = _decode(p256dh), _decode(auth)
    if len(public_key) != POINT_BYTES or len(auth_secret) != SECRET_BYTES:
        raise WebPushError("wrong length")
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), public_key)
    except ValueError as error:
        raise WebPushError("not on the curve") from error
    return public_key, auth_secret


def encrypt(
    payload: bytes,
    public_key: bytes,
    auth_secret: bytes,
    *,
    salt: bytes | None = None,
    sender: ec.EllipticCurvePrivateKey | None = None,
) -> bytes:
    """Return the payload encrypted for one browser in `aes128gcm`; `salt` and `sender` are generated unless given."""
    sender = sender or ec.generate_private_key(ec.SECP256R1())
    body: bytes = http_ece.encrypt(
        payload, salt=salt, private_key=sender, dh=public_key, auth_secret=auth_secret, version="aes128gcm"
    )
    return body


def derive_public_key(private_key: str) -> str:
    """Return the public key of a private one (32 bytes, base64url) as browsers take it: base64url without padding."""
    point = _read_private_key(private_key).public_key.public_bytes(
        Encoding.X962, PublicFormat.UncompressedPoint
    )
    return base64.urlsafe_b64encode(point).decode().rstrip("=")


def build_vapid_header(endpoint: str, private_key: str, contact: str, now: datetime) -> str:
    """Return the `Authorization` header for a push service, naming `contact`, an e-mail address, as the sender.

    Raise WebPushError if the key is invalid or the header cannot be signed.
    """
    parts = urlsplit(endpoint)
    claims = {
        "aud": f"{parts.scheme}://{parts.netloc}",
        "exp": int((now + SIGNATURE_LIFETIME).timestamp()),
        "sub": f"mailto:{contact}",
    }
    try:
        return str(_read_private_key(private_key).sign(claims)["Authorization"])
    except VapidException as error:
        raise WebPushError("nobody can sign for this") from error


def _read_private_key(private_key: str) -> Vapid02:
    try:
        return Vapid02.from_raw(private_key.rstrip("=").encode())
    except (ValueError, binascii.Error) as error:
        raise WebPushError("no private key") from error


def _decode(text: str) -> bytes:
    """Return the bytes of base64url, with or without padding; empty if invalid."""
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)) if BASE64URL.fullmatch(text) else b""
    except binascii.Error:
        return b""
