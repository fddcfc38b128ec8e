"""What the payloads of one read say."""

from typing import Any

import orjson
import pytest

from providers.chat.events import Piece, Thought
from providers.chat.stream import StreamParser
from providers.errors import ProviderUnavailable


def event(delta: dict[str, Any], **rest: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": rest.pop("finish_reason", None)}
    return orjson.dumps({"choices": [choice], **rest})


def test_what_one_read_brings_is_given_in_as_few_events_as_may_be() -> None:
    parser = StreamParser("")
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
    assert list(parser.feed(payloads)) == [
        Thought("Hmm"),
        Piece("It rains."),
        Thought("Enough?"),
        Piece(" So!"),
    ]
    assert (parser.finish, parser.is_whole, parser.is_ended) == ("stop", True, True)
    assert parser.count_usage([], []).completion_tokens > 0


@pytest.mark.parametrize("bad", [b"{nonsense", b'{"error": "gone"}', event({"content": ["a"]})], ids=str)
def test_what_was_heard_before_a_failure_is_given_before_it(bad: bytes) -> None:
    given = StreamParser("").feed(
        [event({"content": "It "}), event({"content": "rains"}), event({"content": "."}), bad]
    )
    assert next(given) == Piece("It rains.")
    with pytest.raises(ProviderUnavailable):
        next(given)
