"""What looks like a secret is not kept, and nothing else is taken for one."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.learning.rules.secrets import holds_secret, redacted, secrets_in
from memory.learning.talk import Line, Talk

SECRETS = [
    "My password is hunter2",
    "my password is swordfish",
    "The wifi password: Blue-Whale-77!",
    "password=letmein99",
    "The passphrase is 'correct horse 42'",
    "My PIN is 4711 now.",
    "my pin code for the bank card is 0815",
    "The door code is 2580#",
    "The code of the safe is 4711.",
    "security code 123 on the back",
    "Use the API key abc123def456 for it",
    "sk-proj-abcdefghijklmnop1234567890",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "AKIAIOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "postgres://alice:s3cret@db.example.org/kith",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA",
    "4111 1111 1111 1111",
    "Card 4111-1111-1111-1111, to 12/27",
    "my card is 4111111111111111",
    "3782 822463 10005",
    "DE89 3704 0044 0532 0130 00",
    "GB29NWBK60161331926819",
    "Pay to DE89370400440532013000 PLEASE",
    "aB3dE5fG7hI9jK1lM3nO5pQ7rS9t",
    "我的密码是abc123",
    "银行卡密码：４７１１２２",
    "验证码 839201",
    "wifi的密码是 qwertyuiop",
    "支付密码改成 889900 了",
    "11010519491231002X",
    "my password is correcthorse",
    "The combination is 12-34-56",
    "Our gate code: 9981",
]
HARMLESS = [
    "I was born in 1987.",
    "My rent is 950 euros, the deposit was 2850.",
    "The exam is on 3 May 2024 at 14:30.",
    "2023-05-02 09:05 and 2023-05-03 10:15",
    "Call me at +49 30 1234567 or 0171 2345678.",
    "I forgot my password again.",
    "My password is too long to type.",
    "The password is wrong, says the page.",
    "I use a password manager.",
    "She has a pin on her jacket with 3 flowers.",
    "I broke a safety pin.",
    "We met 25 years ago, in 1998, when I was 22.",
    "I paid 1,234,567,890,123 Zimbabwean dollars.",
    "The population is 1234567890123456 in the game.",
    "Order 1234 5678 9012 3456 has come.",
    "I love the combination of mint and lamb.",
    "我忘了密码。",
    "密码是什么？",
    "我1987年出生，房租3500元。",
    "我的电话是13812345678。",
    "See https://example.org/articles/2023/A-long-title-with-Words-and-99-numbers",
    "Supercalifragilisticexpialidocious",
    "The Zip code here is 04109, for the parcel.",
    "I run 10 km in 52:30 minutes.",
    "My sister's number in the queue is 4711.",
    "He gave me his word of honour.",
    "The key to happiness is sleep, 8 hours of it.",
]


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_seen(text: str) -> None:
    assert holds_secret(text)
    assert redacted(text) != text
    assert not holds_secret(redacted(text))


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_is_not_taken_for_one(text: str) -> None:
    assert not holds_secret(text)
    assert redacted(text) == text


def with_luhn(digits: str) -> str:
    """The digits with their check digit."""
    return next(
        digits + str(last)
        for last in range(10)
        if sum(
            int(one) if place % 2 == 0 else (int(one) * 2) // 10 + (int(one) * 2) % 10
            for place, one in enumerate(reversed(digits + str(last)))
        )
        % 10
        == 0
    )


@given(st.from_regex(r"[3-6][0-9]{14}", fullmatch=True), st.sampled_from(["", " ", "-"]))
def test_every_number_of_a_card_is_seen_however_it_is_written(digits: str, between: str) -> None:
    number = with_luhn(digits)
    written = between.join(number[place : place + 4] for place in range(0, 16, 4))
    assert holds_secret(f"Take {written} for the trip.")


@given(st.text(max_size=200))
def test_any_text_can_be_looked_at(text: str) -> None:
    assert isinstance(holds_secret(text), bool)
    assert isinstance(redacted(text), str)


def test_a_secret_that_was_told_is_seen_wherever_it_is_said_again() -> None:
    told = secrets_in(["My password is “Zebra-42”.", "The door code is 2580#", "I like zebras."])
    assert holds_secret("She trusts zebra-42 with all she has.", told)
    assert (
        redacted("She trusts zebra-42 with all, and 2580# too.", told) == "She trusts … with all, and … too."
    )
    assert redacted("She saw 12580 zebras.", told) == "She saw 12580 zebras."


def test_of_secrets_within_each_other_nothing_is_left() -> None:
    assert redacted("password: https://eve:sw0rdfish@example.org/home and more") == "password: … and more"


AGAINST = {
    "named": "密码",
    "named, and a digit too near": "密码" * 30 + "密码1 ",
    "keys of small letters": "!a",
    "keys": "a+",
    "tokens": "-eyJaaaaaaaa",
    "tokens with a dot": " eyJaaaaaaaa.-",
    "told": "password:“ ",
    "beside": "pin:",
    "beside, far": "pin for ",
    "quoted": "password is “a",
    "addresses": "a://b:c:",
    "cards": "1111 1111 1111 1111.,",
    "numbers": "DE89 3704 ",
    "private keys": "-----BEGIN ",
    "blanks": " ",
}


@pytest.mark.parametrize("part", AGAINST.values(), ids=AGAINST)
def test_a_text_that_was_written_against_the_patterns_is_looked_at_to_its_end(part: str) -> None:
    """One that took the square of its length would not come to an end within the time that a test has."""
    text = f"password {part * (300_000 // len(part))} My PIN is 4711 now."
    assert redacted(text).endswith(" My PIN is … now.")


def test_thousands_of_secrets_that_were_told_are_looked_for() -> None:
    told = secrets_in([" ".join(f"pin:x{number}yz" for number in range(20_000))])
    assert len(told) == 20_000
    said = ["I like zebras.", "She said X777YZ."] * 30
    assert [redacted(text, told) for text in said] == ["I like zebras.", "She said …."] * 30


def test_the_secrets_of_a_talk_are_looked_for_once() -> None:
    at = datetime(2023, 5, 2, 9, tzinfo=UTC)
    talk = Talk([Line(UUID(int=0), "user", "Emily", "My password is “Zebra-42”.", at)])
    assert talk.secrets == {"Zebra-42"}
    assert talk.secrets is talk.secrets
