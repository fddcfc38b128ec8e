"""What the payloads of one read say."""

import pickle
from typing import Any

import orjson
import pytest

from providers.chat.events import Piece, Retracted, Thought, ToolCall
from providers.chat.stream_parser import MAX_OPEN_CALLS, StreamParser, ToolCallCollector
from providers.chat.thoughts import ThoughtSplitter
from providers.errors import MalformedError, ProviderUnavailable


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


def test_a_finish_reason_that_is_no_text_is_passed_over() -> None:
    parser = StreamParser("")
    list(parser.feed([event({"content": "Yes."}, finish_reason=["length"])]))
    assert (parser.is_whole, parser.is_cut, parser.end()) == (False, False, [])


def read_in_parts(text: str, size: int) -> str:
    """Return what the splitter makes of a text that comes in parts of so many characters."""
    splitter = ThoughtSplitter()
    events = [event for at in range(0, len(text), size) for event in splitter.feed(text[at : at + size])]
    return "".join(
        "(back)" if isinstance(event, Retracted) else event.text for event in [*events, *splitter.end()]
    )


@pytest.mark.parametrize(
    ("said", "is_taken_back"),
    [
        ("a</think>b" * 50 + "\n</think>\nSo.", True),
        ("```\n</think>\n``` ```` `` ```\n</think>\nSo.", True),
        ("```\n</think>\n```` ```\n</think>\nSo.", False),
        ("Hm.  \n \t</think> \t So.", True),
    ],
)
def test_an_answer_is_judged_alike_in_whatever_parts_it_comes(said: str, is_taken_back: bool) -> None:
    whole = read_in_parts(said, len(said))
    assert ("(back)" in whole) == is_taken_back
    assert {read_in_parts(said, size) for size in (1, 2, 3, 7)} == {whole}


@pytest.mark.parametrize("part", ["a</think>b" * 10, " ", "`", "\n"])
@pytest.mark.parametrize("begin", ["", "So", "So</think>"])
def test_little_is_kept_of_an_answer_that_may_turn_out_to_be_reasoning(begin: str, part: str) -> None:
    splitter = ThoughtSplitter()
    splitter.feed(begin)
    for _ in range(4_000):
        splitter.feed(part)
    assert len(pickle.dumps(splitter)) < 2_000


def test_of_very_many_tool_calls_the_first_are_taken() -> None:
    collector = ToolCallCollector()
    collector.feed([{"index": at, "id": f"{at}", "function": {"name": "x"}} for at in range(10_000)])
    collector.feed([{"function": {"arguments": "of one that was dropped"}}])
    assert collector.finish() == [ToolCall(f"{at}", "x", "{}") for at in range(MAX_OPEN_CALLS)]


def test_arguments_have_an_end() -> None:
    collector = ToolCallCollector()
    changes = [{"index": at % 2, "function": {"name": "x", "arguments": "a" * 100_000}} for at in range(11)]
    collector.feed(changes[:10])
    assert [call.arguments for call in collector.finish()] == ["a" * 500_000] * 2
    with pytest.raises(MalformedError, match="more than 1,000,000 characters"):
        collector.feed(changes[10:])
