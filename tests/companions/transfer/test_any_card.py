"""Whatever is in a card, a companion made of it goes out with it. The forms of files are in `tests/cards`."""

import json
from io import BytesIO
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import User
from cards.child import parse
from cards.reader import ReadCard
from companions.models import Companion
from companions.transfer.card_export import card_response, compose_card
from companions.transfer.card_import import keep_upload, make_companion
from tests.fixtures.properties import examples

pytestmark = pytest.mark.django_db
Card = dict[str, Any]
WORDS = st.sampled_from(
    [
        "{{user}}",
        "{{char}}",
        "<BOT>",
        "{{random:a,b}}",
        "灯塔",
        "🕯️👩‍🚀",
        "عنبر",
        "@@depth 2",
        "<START>",
        "\r\n",
        "\n",
    ]
)
TEXTS = st.lists(st.one_of(WORDS, st.text(max_size=12)), max_size=4).map(" ".join)
NAMES = st.sampled_from(["Odessa", "灯", "🕯️", "O’Dessa d'Or", "名前 長い", "{{char}}"])
NUMBERS = st.one_of(st.none(), st.integers(0, 1000))
ANY = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.floats(-1e9, 1e9), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=8,
)
# As SillyTavern writes them; nothing of it may be lost, whether Kith uses it or not.
RULES = st.fixed_dictionaries(
    {},
    optional={
        "position": st.integers(0, 7),
        "depth": st.integers(0, 99),
        "role": st.integers(0, 2),
        "selectiveLogic": st.integers(0, 3),
        "probability": st.integers(0, 100),
        "useProbability": st.booleans(),
        "group": TEXTS,
        "group_weight": st.integers(1, 100),
        "sticky": NUMBERS,
        "cooldown": NUMBERS,
        "delay": NUMBERS,
        "scan_depth": NUMBERS,
        "match_whole_words": st.one_of(st.none(), st.booleans()),
        "exclude_recursion": st.booleans(),
        "delay_until_recursion": st.one_of(st.booleans(), st.integers(1, 5)),
        "character_filter": st.fixed_dictionaries({"names": st.lists(NAMES, max_size=2)}),
        "theirs": ANY,
    },
)
ENTRIES = st.fixed_dictionaries(
    {
        "keys": st.lists(TEXTS, max_size=3),
        "content": TEXTS,
        "extensions": RULES,
        "enabled": st.booleans(),
        "insertion_order": st.integers(-100, 1000),
        "use_regex": st.booleans(),
    },
    optional={
        "constant": st.booleans(),
        "selective": st.booleans(),
        "secondary_keys": st.lists(TEXTS, max_size=2),
        "case_sensitive": st.one_of(st.none(), st.booleans()),
        "position": st.sampled_from(["before_char", "after_char"]),
        "priority": NUMBERS,
        "id": st.one_of(NUMBERS, TEXTS),
        "name": TEXTS,
        "comment": TEXTS,
        "theirs": ANY,
    },
)
BOOKS = st.fixed_dictionaries(
    {"entries": st.lists(ENTRIES, max_size=4), "extensions": st.dictionaries(TEXTS, ANY, max_size=2)},
    optional={
        "name": NAMES,
        "description": TEXTS,
        "scan_depth": NUMBERS,
        "token_budget": NUMBERS,
        "recursive_scanning": st.one_of(st.none(), st.booleans()),
        "theirs": ANY,
    },
)
NOTES = st.fixed_dictionaries(
    {
        "prompt": TEXTS.filter(str.strip),
        "depth": st.integers(0, 9999),
        "role": st.sampled_from(["system", "user", "assistant"]),
    }
)
DATA = st.fixed_dictionaries(
    {"name": NAMES, "description": TEXTS, "first_mes": TEXTS},
    optional={
        **dict.fromkeys(("personality", "scenario", "mes_example", "creator_notes", "creator"), TEXTS),
        **dict.fromkeys(("system_prompt", "post_history_instructions", "character_version"), TEXTS),
        **{
            key: st.lists(TEXTS, max_size=3)
            for key in ("alternate_greetings", "group_only_greetings", "tags")
        },
        "nickname": NAMES,
        "source": st.lists(TEXTS, max_size=2),
        "creator_notes_multilingual": st.dictionaries(st.sampled_from(["en", "zh", "ja"]), TEXTS),
        "extensions": st.fixed_dictionaries({}, optional={"depth_prompt": NOTES, "theirs": ANY}),
        "character_book": BOOKS,
        "theirs": ANY,
    },
)


def bring(user: User, content: bytes) -> tuple[Card, Companion]:
    """The card that is read in the file, and the companion that is made of it."""
    form, file = parse(BytesIO(content))
    read = ReadCard(form, file.known.version, file.known.card, None, [], file.known.remarks)
    now = timezone.now()
    return read.card, make_companion(keep_upload(user, read, content, now), now)


def without_dates(card: Card) -> Card:
    dates = {"creation_date": 0, "modification_date": 0}
    return {**card, "data": {**card["data"], **dates, "assets": []}}


@settings(examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=DATA, beside=st.dictionaries(st.sampled_from(["theirs", "更"]), ANY))
def test_nothing_of_a_card_is_lost_on_its_way_through_a_companion(
    alice: User, data: Card, beside: Card
) -> None:
    card = {"spec": "chara_card_v3", "spec_version": "3.0", "data": data, **beside}
    with transaction.atomic():
        came, companion = bring(alice, json.dumps(card).encode())
        assert without_dates(compose_card(companion)) == without_dates(came)
        again, other = bring(alice, card_response(companion, timezone.now(), spec="v3", form="json").content)
        assert without_dates(again) == without_dates(came)
        assert without_dates(compose_card(other)) == without_dates(came)
        transaction.set_rollback(True)
