"""What a model spills among its words, and what a companion says of it, wherever the stream cuts it."""

import time
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companions.conversations.answer_lines import Names
from companions.conversations.answer_markup import TextCall
from companions.conversations.clean_answers import AnswerCleaner, Part, clean_text
from companions.conversations.emotion_tags import Felt
from companions.conversations.text_calls import stands_in
from providers.chat.events import Thought

NOOR_AND_ANA = Names("Noor", "Ana")
CALL = '{"name": "recall", "arguments": {"cue": "Tiago"}}'


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


SPILLED = {
    # another's turn
    "the person's name": ("Hello!\nAna: thanks\nNoor: you're welcome", "Hello!"),
    "the person's name in bold": ("Hello!\n\n**Ana:** thanks", "Hello!"),
    "the person's name with a wide colon": ("你好！\nAna：谢谢", "你好！"),
    "the person's name in a heading": ("Hello!\n### Ana: thanks", "Hello!"),
    "the person's name with an aside": ("Hello!\nAna (laughing): ha", "Hello!"),
    "the person's placeholder": ("Hello!\n{{user}}: thanks", "Hello!"),
    "the person first": ("Ana: hi\nNoor: hello", "hello"),
    "a role": ("Hello!\nUser: thanks", "Hello!"),
    "a role in Chinese": ("你好！\n用户：谢谢", "你好！"),
    "a role as a heading": ("Hello!\n\n### User:\nthanks", "Hello!"),
    "an instruction": ("Hello!\n\n### Instruction:\nBe kind", "Hello!"),
    "ChatML": ("Hello!<|im_end|>\n<|im_start|>user\nthanks", "Hello!"),
    "ChatML without its end": ("Hello!\n<|im_start|>user\nthanks", "Hello!"),
    "ChatML, broken": ("Hello!<im_end>\nthanks", "Hello!"),
    "Llama 3": ("Hello!<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nthanks", "Hello!"),
    "Llama 2": ("Hello! </s><s>[INST] thanks [/INST]", "Hello! "),
    "Gemma": ("Hello!<end_of_turn>\n<start_of_turn>user\nthanks", "Hello!"),
    "Phi": ("Hello!<|end|><|user|>thanks", "Hello!"),
    "DeepSeek": ("Hello!<｜end▁of▁sentence｜><｜User｜>thanks", "Hello!"),
    "GPT": ("Hello!<|endoftext|>Q: what?", "Hello!"),
    # one's own
    "its own name": ("Noor: hello", "hello"),
    "its own name with a wide colon": ("Noor：你好", "你好"),
    "its own name in bold": ("**Noor:** hello", "hello"),
    "its own name in small letters": ("noor: hello", "hello"),
    "its own name twice": ("Noor: hello\nNoor: again", "hello\nagain"),
    "its own name behind an emotion": ("<emotion happy 0.5> Noor: hello", "hello"),
    "an assistant": ("Assistant: hello", "hello"),
    "its own header": ("<|im_start|>assistant\nhello", "hello"),
    "its own header of Llama 3": ("<|start_header_id|>assistant<|end_header_id|>\n\nhello", "hello"),
    "its own header of Gemma": ("<start_of_turn>model\nhello", "hello"),
    "a response": ("### Response:\nhello", "hello"),
    "the end of an instruction": ("[/INST] hello", "hello"),
    "the beginning of a sequence": ("<s>hello", "hello"),
    # reasoning
    "a lone end of reasoning": ("Hello </think> there", "Hello there"),
    "a lone beginning of reasoning": ("Hello <think> there", "Hello there"),
    "reasoning in between": ("Hello <think>hm</think>there", "Hello there"),
    "reasoning without an end": ("Hello\n<think>hm, she", "Hello\n"),
    "reasoning within reasoning": ("<think>a<think>b</think>c</think>hello", "hello"),
    "reasoning of Harmony": (
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>hello",
        "hello",
    ),
    "reasoning of Magistral": ("[THINK]hm[/THINK]hello", "hello"),
    # Kith's own
    "a block": ("Hello.\n<kith-context>\nNow: Monday\n</kith-context>", "Hello.\n"),
    "a block without an end": ("Hello. <kith-context>\nNow: Monday\nRemembered: tea", "Hello. "),
    "a lone end of a block": ("Hello </kith-persona>there", "Hello there"),
    "a block in code": ("```\nx\n<kith-context>\nNow\n</kith-context>\n", "```\nx\n\n"),
    # emotions
    "an emotion in brackets": ("[happy] Hello", "Hello"),
    "an emotion in brackets within": ("Good [sad] day", "Good day"),
    "an emotion in wide brackets": ("【happy】你好", "你好"),
    "an emotion alone": ("(happy) Hello", "Hello"),
    "an emotion of its own element": ("<happy 0.7>Hello", "Hello"),
    "an emotion in code": ("`<emotion happy 0.7>` Hello", "Hello"),
    "an emotion as a block": ("<kith-emotion sad 0.3>Hello", "Hello"),
    "an emotion with its name": ("[emotion: happy 0.6] Hello", "Hello"),
    # cut off within a token
    "half a token": ("Hello <|im_e", "Hello "),
    "half a block": ("Hello <kith-con", "Hello "),
    # tool calls
    "a call of Hermes": (f"<tool_call>\n{CALL}\n</tool_call>", ""),
    "a call without an end": (f"Wait.\n<tool_call>{CALL}", "Wait.\n"),
    "a call of Mistral": (f"[TOOL_CALLS][{CALL}]", ""),
    "a call of Llama": ('<function=recall>{"cue": "Tiago"}</function>', ""),
    "a call of Llama in JSON": ('<|python_tag|>{"name": "recall", "parameters": {"cue": "Tiago"}}', ""),
    "a call of Qwen": ("<function=recall>\n<parameter=cue>\nTiago\n</parameter>\n</function>", ""),
    "a call in a fence": (f"```json\n{CALL}\n```", ""),
    "a bare call": (CALL, ""),
    "a broken call": ('<tool_call>{"name": "recall", "argu</tool_call>Well.', "Well."),
    # loops
    "a loop": ("I love you. " * 300, "I love you. I love you."),
    "a loop in Chinese": ("我爱你，永远。" * 300, "我爱你，永远。" * 2),
    "a loop of one word": ("so " * 2000, "so so so so so"),
    "a loop of one letter": ("a" * 3000, "a" * 100),
    "a loop of lines": ("Hi!\n" + "Tell me more.\n" * 99, "Hi!\nTell me more.\nTell me more."),
    "a loop with numbers": (
        "".join(f"{n}. I am here for you, always.\n" for n in range(1, 90)),
        "1. I am here for you, always.\n2. I am here for you, always.\n",
    ),
}  # fmt: skip
KEPT = {
    "an emphasis": "I *really* like **rain** and _snow_.",
    "a stage direction": "*smiles* Hello there!",
    "a note": "Note: bring shoes.\nSummary: it rains.\nPS: call me",
    "a quotation": "You wrote:\n> Ana: I love rain\nand I smiled.",
    "a name in a sentence": "Ana, look: rain!\nAna said it first.",
    "a list": "- one: 1\n- two: 2\n\n1. first\n2. second\n",
    "a list of roles": "Three roles:\nUser: may read\nEditor: may write\nAdmin: may do all",
    "a table": "| who | what |\n|---|---|\n| Ana | rain |\n| Noor | snow |\n",
    "a table of noughts": "| 0 | 0 | 0 | 0 |\n" * 40,
    "a list to tick": "- [ ] milk\n- [x] bread\n" + "- [ ] \n" * 30,
    "mathematics": "If 1 < 2 and x > 3, then $a_{1} < b$ and [0, 1] is closed; f: {x | x < 2}.",
    "code": "```python\nif a < b:\n    print('<|im_start|>user')\n```\nThat prints a token.",
    "code in a line": "`<|im_start|>` begins a turn, `</s>` ends it, `<think>` reasons.",
    "JSON": '```json\n{"name": "Ana", "age": 31}\n```\nThat is you.',
    "JSON of another tool": '```json\n{"name": "open_door", "arguments": {}}\n```',
    "HTML": "It was <s>ten</s> five, <b>really</b>.",
    "a link": "See [happy](https://example.org/happy) and [sad][1].",
    "a bracket": "He [the cat] sat. (happy as ever) Well [sic].",
    "laughter": "ha " * 20 + "that is good",
    "laughter in Chinese": "哈哈哈哈哈哈哈哈哈哈，太好了",
    "a line drawn": "Above\n" + "-" * 80 + "\nbelow " + "." * 40,
    "a song": ("Row, row, row your boat,\ngently down the stream.\nMerrily, merrily, merrily, merrily,\n"
               "life is but a dream.\n\n") * 3,
    "a refrain": "".join(f"{verse} is the verse that I sing to you now\nLet it be, let it be, let it be, let it be\n"
                         "Whisper words of wisdom, let it be\n\n" for verse in ("One", "Two", "Three", "Four", "Five")),
    "a chant": "Na na na nananana, nananana, hey Jude\n" * 4,
    "bottles": "".join(f"{n} bottles of beer on the wall, {n} bottles of beer.\nTake one down, pass it around, "
                       f"{n - 1} bottles of beer on the wall.\n\n" for n in range(30, 1, -1)),
    "a poem in Chinese": "床前明月光，疑是地上霜。\n举头望明月，低头思故乡。\n" * 2,
    "lines with times": "08:00: tea\n09:00: tea\n10:00: tea\n11:00: tea",
}  # fmt: skip


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


def test_a_person_called_user_is_spoken_to() -> None:
    names = Names("Noor", "User")
    said = "Hello User, how are you? User: the word.\n- User: you"
    assert clean(said, names=names).text == said
    assert clean("Hello.\nUser: hi", names=names).text == "Hello."


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
    began = time.perf_counter()
    clean(answer, 1)
    return time.perf_counter() - began


def test_a_whole_text_is_cleaned_at_once() -> None:
    said, felt = clean_text("Noor: [happy] Good luck!\n\nAna: thanks", "Noor", "Ana")
    assert said == "Good luck!"
    assert [(emotion.at, emotion.emotion) for emotion in felt] == [(0, "happy")]
    assert clean_text("<think>hm", "Noor", "Ana") == ("", [])


def test_a_call_that_stands_in_the_prompt_is_known() -> None:
    quoted = (
        'said: \\"< tool_call>{\\"name\\": \\"recall\\",\\n \\"arguments\\": {\\"cue\\": \\"Tiago\\"}}\\"'
    )
    assert stands_in(f"<tool_call>{CALL}</tool_call>", [{"role": "user", "content": quoted}])
    assert not stands_in(f"<tool_call>{CALL}</tool_call>", [{"role": "user", "content": "Tiago"}])
