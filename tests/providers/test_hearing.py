"""What the payloads of one read say."""

import random
from typing import Any

import orjson
import pytest

from providers.errors import ProviderUnavailable
from providers.hearing import Hearing
from providers.pieces import Piece, Thought
from providers.reading import joined


def event(delta: dict[str, Any], **rest: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": rest.pop("finish_reason", None)}
    return orjson.dumps({"choices": [choice], **rest})


def hearing() -> Hearing:
    return Hearing("", random.Random(1))


def test_a_text_alone_is_heard_in_its_place_among_the_others() -> None:
    heard = hearing()
    payloads = [
        event({"content": "<think>Hm"}),
        event({"content": "m</think>"}),
        event({"role": "assistant", "content": "It "}),
        event({"content": "rains", "refusal": None}),
        event({"content": "."}, usage=None),
        event({"reasoning_content": "Enough?"}),
        event({"content": " So"}),
        event({"content": "!"}, finish_reason="stop"),
        b"[DONE]",
        event({"content": "never"}),
    ]
    assert list(joined(heard.take(payloads))) == [
        Thought("Hmm"),
        Piece("It rains."),
        Thought("Enough?"),
        Piece(" So!"),
    ]
    assert (heard.finish, heard.is_whole, heard.is_ended) == ("stop", True, True)
    assert heard.usage([], []).completion_tokens > 0


@pytest.mark.parametrize("bad", [b"{nonsense", b'{"error": "gone"}', event({"content": ["a"]})], ids=str)
def test_what_was_heard_before_a_failure_is_given_before_it(bad: bytes) -> None:
    given = hearing().take(
        [event({"content": "It "}), event({"content": "rains"}), event({"content": "."}), bad]
    )
    assert [next(given), next(given)] == [Piece("It "), Piece("rains.")]
    with pytest.raises(ProviderUnavailable):
        next(given)
