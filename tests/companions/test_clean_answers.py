"""What a model spills among its words, and what a companion says of it, wherever the stream cuts it."""

import json
import time
from dataclasses import dataclass
from itertools import islice, permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companions.answers.cleaner import AnswerCleaner, Part, clean_text
from companions.answers.emotion_tags import Felt
from companions.answers.lines import Names
from companions.answers.loops import drop_repetitions
from companions.answers.markup import TextCall
from companions.answers.text_calls import NAMED, QuotedCalls, read_calls
from providers.chat.events import Thought
from tests.fixtures.spilled import CALL, KEPT, SPILLED

NOOR_AND_ANA = Names("Noor", "Ana")


@dataclass
class Cleaned:
    text: str
    felt: list[tuple[int, str]]
    thought: str
    calls: list[tuple[str, str]]
    cut: str


def clean(
    answer: str, size: int = 0, names: Names = NOOR_AND_ANA, *, keeps_directions: bool = True
) -> Cleaned:
    """The whole answer, or cut into pieces of that size."""
    cleaner = AnswerCleaner(names, tools=("recall", "remember"), keeps_directions=keeps_directions)
    pieces = [answer[at : at + size] for at in range(0, len(answer), size)] if size else [answer]
    parts: list[Part] = [part for piece in pieces for part in cleaner.take(piece)]
    parts += cleaner.end()
    return Cleaned(
        "".join(part for part in parts if isinstance(part, str)),
        [(part.at, part.emotion.value) for part in parts if isinstance(part, Felt)],
        "".join(part.text for part in parts if isinstance(part, Thought)),
        [(part.name, part.arguments) for part in parts if isinstance(part, TextCall)],
        str(cleaner.cut or ""),
    )


@pytest.mark.parametrize("size", [0, 1, 2, 5])
@pytest.mark.parametrize("case", SPILLED)
def test_what_is_spilled_is_not_said(case: str, size: int) -> None:
    answer, text = SPILLED[case]
    assert clean(answer, size).text == text


@pytest.mark.parametrize("size", [0, 1, 3])
@pytest.mark.parametrize("case", KEPT)
def test_what_is_meant_stays_as_it_is(case: str, size: int) -> None:
    cleaned = clean(KEPT[case], size)
    assert (cleaned.text, cleaned.cut, cleaned.calls) == (KEPT[case], "", [])


SPILLS = st.sampled_from([answer for answer, _text in SPILLED.values() if len(answer) < 200])
WORDS = st.text(alphabet='ab <>[]|/`\n:*_{}"。NoorAna好kith', max_size=15)
ANSWERS = st.lists(WORDS | SPILLS, max_size=4).map("".join)


@given(ANSWERS, st.integers(1, 7))
def test_it_does_not_matter_where_the_stream_is_cut(answer: str, size: int) -> None:
    assert clean(answer, size) == clean(answer)


@given(ANSWERS)
def test_no_block_leaks(answer: str) -> None:
    assert "<kith-context>" not in clean(answer, 1).text


def test_an_emotion_in_brackets_is_felt_where_it_stood() -> None:
    assert clean("[happy] Hello. [sad] But no.").felt == [(0, "happy"), (7, "sad")]
    assert clean("(curious) Hm?").felt == [(0, "curious")]
    assert clean("Noor: <emotion happy 0.6> Hi").felt == [(0, "happy")]


@pytest.mark.parametrize("case", [name for name in SPILLED if " call" in name and "broken" not in name])
def test_a_call_as_text_is_read(case: str) -> None:
    for size in (0, 1):
        assert clean(SPILLED[case][0], size).calls == [("recall", '{"cue": "Tiago"}')]


def test_reasoning_stays_reasoning() -> None:
    assert clean("<think>a<think>b</think>c</think>hello").thought == "abc"
    assert clean("Hello <think>hm</think>there", 1).thought == "hm"


def test_a_loop_is_told_and_a_turn_of_anothers() -> None:
    assert clean(SPILLED["a loop"][0]).cut == "loop"
    assert clean("Hello!\nAna: hi").cut == "turn"
    assert clean("Hello!").cut == ""


@pytest.mark.parametrize("size", [0, 1, 50])
def test_a_block_of_kiths_that_goes_on_and_on_ends_the_answer(size: int) -> None:
    going_on = "Nobody has answered, and so on. " * 40
    cleaned = clean(f"Good night.\n<kith-person>\n{going_on}", size)
    assert (cleaned.text, cleaned.cut) == ("Good night.", "turn")
    assert clean(f"Hi.<kith-person>{going_on[:500]}</kith-person> Ana.", size).text == "Hi. Ana."
    assert clean(f"<kith-person>{going_on}</kith-person>Hello.", size).text == "Hello."


CIRCLES = ("I am always here for you, my dear friend.", "You can tell me anything you want to.",
           "We will get through all of this together.", "Please remember that you are not alone.")  # fmt: skip


@pytest.mark.parametrize("size", [0, 1])
def test_circles_that_are_not_in_step_are_a_loop(size: int) -> None:
    order = [(number * number + number // 3) % 4 for number in range(200)]
    cleaned = clean(" ".join(CIRCLES[number] for number in order), size)
    assert cleaned.cut == "loop"
    assert len(cleaned.text) < 1200


def test_of_a_loop_each_sentence_stays_once() -> None:
    glad, soup = "I am glad. You first came on 3 May.", "I had soup, Ana."
    assert drop_repetitions(f"{glad}\n\n{soup} {glad}\n{soup}\nYou first ca") == f"{glad}\n\n{soup}"
    assert drop_repetitions("1. 我很好。\n2. 我很好。\n3. 你呢？\n4. ") == "1. 我很好。\n3. 你呢？"
    assert drop_repetitions("so so so") == "so so so"
    assert clean_text("I love you. " * 300, NOOR_AND_ANA)[0] == "I love you."


def test_a_loop_of_very_many_sentences_does_not_hold_up_the_process() -> None:
    """A model that never ends could write them, and one process answers everybody."""
    words = map("".join, product("abcdefghijkl", repeat=4))
    many = "".join(f"{word}. " for word in islice(words, 17_000))
    began = time.process_time()
    assert drop_repetitions(many + many[:60]) == many.rstrip()
    assert (
        time.process_time() - began < 5
    )  # a fraction of a second; half a minute if each is compared with all before


def test_an_answer_that_is_cut_while_it_goes_round_is_a_loop() -> None:
    orders = list(permutations(range(4)))
    order = [number for each in (*orders[::5], *orders[1::5]) for number in each][:30]
    round_and_round = ", ".join(CIRCLES[number].strip(".") for number in order)
    cleaner = AnswerCleaner(Names("Noor", "Ana"))
    said = [*cleaner.take(round_and_round), *cleaner.end(is_cut=True)]
    assert cleaner.cut == "loop"
    assert len("".join(map(str, said))) < len(round_and_round)
    assert clean(round_and_round).text == round_and_round


def test_a_companion_with_a_nickname_goes_by_either_name() -> None:
    names = Names("Eleonora Voss", "Ana", "Nell")
    for label in ("Nell", "Eleonora", "Eleonora Voss"):
        assert clean(f"{label}: I am {{{{char}}}}.\nAna: hi", names=names).text == "I am Nell."


def test_a_person_called_user_is_spoken_to() -> None:
    names = Names("Noor", "User")
    said = "Hello User, how are you? User: the word.\n- User: you"
    assert clean(said, names=names).text == said
    assert clean("Hello.\nUser: hi", names=names).text == "Hello."


@pytest.mark.parametrize("size", [0, 1, 5])
@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Noor: Hello!\n\nAna: Hi.\n\nNoor: So?\nAna: So.", "Hello!"),
        ("Noor：你好！\n**安娜：** 你好。\nNoor：嗯。", "你好！"),
        (
            "Noor: A cake.\nIngredients: flour\nTime: an hour\n",
            "A cake.\nIngredients: flour\nTime: an hour\n",
        ),
        ("A cake.\nIngredients: flour\nNoor: Enjoy!", "A cake.\nIngredients: flour\nEnjoy!"),
        ("Again.\nThe person: I had soup.\nNoor: Soup?", "Again."),  # as in the example dialogue
        ("the person: hi\nNoor: hello", "hello"),
    ],
)
def test_a_turn_of_somebody_without_a_name_stands_between_two_of_its_own(
    answer: str, text: str, size: int
) -> None:
    assert clean(answer, size, Names("Noor", "")).text == text


def test_names_are_no_patterns() -> None:
    assert clean("a.*: hi\n(b): ho", names=Names("a.*", "(b)")).text == "hi"
    assert clean("A: one\nB: two", names=Names("A", "B")).text == "A: one\nB: two"


def test_stage_directions_go_where_they_are_not_wanted() -> None:
    answer = "*smiles* Hello. *gently takes your hand* I *really* mean it. *Yes* it is.\n*微笑* 你好。（轻轻点头）好。"
    cleaned = clean(answer, keeps_directions=False)
    assert cleaned.text == "Hello. I *really* mean it. *Yes* it is.\n你好。好。"
    assert clean(answer, 1, keeps_directions=False) == cleaned


@pytest.mark.parametrize(
    "sign",
    ["<", "[", "`", "\n", "[happy", "<kith-", "</", "Ana", "Noor ", "*", "｜", '{"name": "', "<think>", "```\n",
     "哈", "ab ", " ", "<tool_call>{", "(", "\n**", "<|"],
)  # fmt: skip
def test_hostile_answers_are_read_in_a_moment(sign: str) -> None:
    """Ten times as many take about ten times as long, and not a hundred."""
    short, long = (_seconds(sign * (count // len(sign))) for count in (2_000, 20_000))
    assert long < 45 * max(short, 0.002)


def _seconds(answer: str) -> float:
    began = time.thread_time()
    clean(answer, 1)
    return time.thread_time() - began


def test_a_whole_text_is_cleaned_at_once() -> None:
    said, felt = clean_text("Noor: [happy] Good luck!\n\nAna: thanks", Names("Noor", "Ana"))
    assert said == "Good luck!"
    assert [(emotion.at, emotion.emotion) for emotion in felt] == [(0, "happy")]
    assert clean_text("<think>hm", Names("Noor", "Ana")) == ("", [])


def test_a_call_that_stands_in_the_prompt_is_known() -> None:
    quoted = (
        'said: \\"< tool_call>{\\"name\\": \\"recall\\",\\n \\"arguments\\": {\\"cue\\": \\"Tiago\\"}}\\"'
    )
    assert is_quoted(quoted)
    assert not is_quoted("Tiago")


def is_quoted(*messages: str, cue: str = "Tiago") -> bool:
    quoted = QuotedCalls([{"role": "user", "content": message} for message in messages])
    return quoted.has("recall", json.dumps({"cue": cue}))


@pytest.mark.parametrize(
    "message",
    [
        "<function=recall>\n<parameter=cue>\nTiago\n</parameter>\n</function>",
        '[TOOL_CALLS]recall[ARGS]{"cue": "Tiago"}',
        '<|tool_call_begin|>functions.recall:0<|x|>{"cue": "Tiago"}',
        r'{"name": "recall", "arguments": {"cue": "\u0054iago"}}',
        '<b>{"name": <b>"recall"</b>, "arguments": "Ti<i>ago"</i>}',
    ],
)
def test_a_quoted_call_is_known_in_each_form(message: str) -> None:
    assert is_quoted(message)
    assert is_quoted(message, cue="<tool_call>Tiago")


def test_a_call_with_full_width_marks_is_read() -> None:
    written = '<tool_call>{"name"："recall"，"arguments"：{"cue"："周五，下午"，"count"：3}}</tool_call>'
    assert read_calls(written) == [("recall", '{"cue": "周五，下午", "count": 3}')]


def test_an_escaped_pair_is_one_character() -> None:
    assert is_quoted(r'{"name": "recall", "arguments": {"cue": "\ud83d\ude00"}}', cue="\U0001f600")


def test_a_call_is_not_quoted_by_its_words_or_by_two_messages() -> None:
    assert not is_quoted("Do you recall Tiago?")
    assert not is_quoted('"recall"', "Tiago")
    assert not is_quoted(CALL, cue="Ines")


@pytest.mark.timeout(60)  # it would take hours else
def test_a_name_is_looked_for_in_a_moment() -> None:
    assert NAMED.search("<tool_call>recall" + " " * 40_000) is None
    assert NAMED.search(">" + " " * 40_000 + ">a" * 20_000) is None


def test_a_role_is_expected_within_a_few_blanks() -> None:
    assert clean("<|im_start|>" + " " * 40 + "assistant\nhello").text.strip() == "hello"
    assert _seconds("<|im_start|>" + " " * 8_000) < 2


def test_a_word_in_brackets_is_no_reasoning() -> None:
    answer = "I was [thinking] about you all day, and [thinking] again"
    assert clean(answer).text == clean(answer, 1).text == answer


@pytest.mark.parametrize("size", [0, 1])
def test_what_was_no_reasoning_is_cleaned(size: int) -> None:
    secret = "<kith-memory>secret</kith-memory>"
    assert clean(f"Hello <think> there {secret}", size).text.strip() == "Hello there"
    assert clean(f"Hello <think> there <think> {secret} again", size).text == "Hello there again"
    assert clean("Hello <think>a <think>b</think>there", size).text == "Hello there"
    assert clean("Hello " + "<think> " * 3_000, size).text.strip() == "Hello"
