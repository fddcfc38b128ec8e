"""Encryption as RFC 8291 shows it byte for byte, and signatures as RFC 8292 asks."""

from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from integrations.push.web_push import (
    WebPushError,
    build_vapid_header,
    derive_public_key,
    encrypt,
    parse_browser_keys,
)
from tests.fixtures.push_service import Received, b64, unb64

# RFC 8291, section 5 and appendix A
PLAIN = b"When I grow up, I want to be a watermelon"
SENDER = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
SENDERS_POINT = "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"
POINT = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
SECRET = "BTBZMqHH6r4Tts7J_aSIgg"
SALT = "DGv6ra1nlYgDCS1FRnbzlw"
ENCRYPTED = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru"
    "3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)
NOON = datetime(2046, 5, 4, 10, tzinfo=UTC)


def test_the_example_of_the_standard_byte_for_byte() -> None:
    sender = ec.derive_private_key(int.from_bytes(unb64(SENDER), "big"), ec.SECP256R1())
    body = encrypt(PLAIN, *parse_browser_keys(POINT, SECRET), salt=unb64(SALT), sender=sender)
    assert b64(body) == ENCRYPTED
    assert derive_public_key(SENDER) == SENDERS_POINT


def test_each_time_the_sender_and_the_salt_are_new() -> None:
    keys = parse_browser_keys(POINT, SECRET)
    one, other = encrypt(PLAIN, *keys), encrypt(PLAIN, *keys)
    assert one[:16] != other[:16]
    assert one[21:86] != other[21:86]


@pytest.mark.parametrize("endpoint", ["https://push.example.org/a/b?c=d", "https://push.example.org:443/x"])
def test_a_signature_names_the_push_service_its_end_and_who_answers(endpoint: str) -> None:
    told = build_vapid_header(endpoint, SENDER, "kith@example.org", NOON)
    claims = Received("", {"authorization": told}, b"").claims()
    assert claims == {
        "aud": endpoint.split("/a/")[0].removesuffix("/x"),
        "exp": int(NOON.timestamp()) + 12 * 3600,
        "sub": "mailto:kith@example.org",
        "k": SENDERS_POINT,
    }


BAD = {
    "nothing": ("", ""),
    "no base64": ("!" * 87, SECRET),
    "too short": (POINT[:-4], SECRET),
    "too long": (POINT + "AAAA", SECRET),
    "compressed": (b64(b"\x02" + unb64(POINT)[1:33]), SECRET),
    "not on the curve": (b64(unb64(POINT)[:-1] + b"\x00"), SECRET),
    "at infinity": (b64(bytes(65)), SECRET),
    "no point": (b64(b"\x04" + bytes(64)), SECRET),
    "a short secret": (POINT, SECRET[:-4]),
    "a long secret": (POINT, b64(bytes(17))),
    "the wrong alphabet": (POINT.replace("_", "/").replace("-", "+"), SECRET),
    "another alphabet": ("é" * 87, SECRET),
    "blanks within": (POINT[:40] + " " + POINT[40:], SECRET),
}


@pytest.mark.parametrize("keys", BAD.values(), ids=BAD)
def test_keys_that_are_none_are_refused(keys: tuple[str, str]) -> None:
    with pytest.raises(WebPushError):
        parse_browser_keys(*keys)


def test_keys_come_with_or_without_padding() -> None:
    assert parse_browser_keys(POINT + "=", SECRET + "==") == parse_browser_keys(POINT, SECRET)


def test_who_has_no_key_signs_nothing() -> None:
    with pytest.raises(WebPushError):
        build_vapid_header("https://push.example.org/", "AAAA", "kith@example.org", NOON)
    with pytest.raises(WebPushError):
        build_vapid_header("https://[2606:4700::1111]/", SENDER, "kith@example.org", NOON)
