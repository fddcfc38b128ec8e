import pytest

from providers.chat.events import ToolCall
from providers.embedding.minilm import find_weights, load_tokenizer
from providers.tokens import estimate, estimate_answer, estimate_messages, split

TALK = """Hi! I finally moved into the new flat on Saturday. The kitchen is tiny, but there's a balcony, and in the
morning the sun comes straight into the living room. My neighbour, Mrs. Okafor, brought me a plant — she said that it
only needs water every second week, so even I shouldn't be able to kill it. How was your week? Did anything happen?"""
LETTER = """Dear Ms Lindqvist, thank you for your letter of 14 March 2025. The committee has considered your proposal
and recommends that the restoration of the eastern stairway begin immediately, subject to an independent structural
examination. Expenditure must not exceed 48,500 euros. Responsibility for documentation remains with the contractor."""
DIARY = """It rained the whole day and I stayed in bed with a book. I keep thinking about what dad said on the phone:
that he is proud of me, that he always was. He has never said it before. I cried a bit afterwards, then I made soup."""
CODE = """def area(width, height):\n    if width < 0 or height < 0:\n        raise ValueError("negative")\n
    return {"area": width * height, "unit": "m2"}\n\nprint(area(3, 4)["area"])"""
CHINESE = """昨天晚上我和妹妹一起去看了电影,回家的时候下起了大雨,我们都没有带伞。她说下次一定要先看天气预报。
今天我有点感冒,请了半天假,喝了姜茶以后好多了。周末如果天晴,我想去爬山。"""
GERMAN = """Gestern bin ich mit dem Zug nach Hamburg gefahren, um meine Großeltern zu besuchen. Wir haben Kuchen
gegessen und lange über früher gesprochen. Mein Großvater erzählt immer dieselben Geschichten, aber ich mag sie."""
RUSSIAN = (
    """Вчера мы с братом весь день чинили старый велосипед, а вечером поехали на озеро. Вода была холодная."""
)


def error(texts: list[str]) -> float:
    """How far the estimate lies from MiniLM's own word pieces, as a share of them."""
    folder = find_weights()
    assert folder
    tokenizer = load_tokenizer(folder)
    true = sum(len(tokenizer.encode(text, add_special_tokens=False).ids) for text in texts)
    return sum(map(estimate, texts)) / true - 1


@pytest.mark.parametrize(
    "text", [TALK, LETTER, DIARY, CODE, CHINESE], ids=["talk", "letter", "diary", "code", "chinese"]
)
def test_the_estimate_is_within_a_tenth_of_word_pieces(text: str) -> None:
    assert abs(error([text])) < 0.1


def test_the_estimate_is_within_a_twentieth_over_many_texts() -> None:
    assert abs(error([TALK, LETTER, DIARY, CODE, CHINESE])) < 0.05


@pytest.mark.parametrize("text", [GERMAN, RUSSIAN], ids=["german", "russian"])
def test_other_scripts_and_tongues_are_counted_at_least_by_half(text: str) -> None:
    """An English vocabulary cuts these into more pieces than the vocabularies of chat models do."""
    assert -0.5 < error([text]) < 0.1


def test_a_prompts_count_holds_its_calls_and_tools() -> None:
    function = {"name": "remember", "arguments": '{"text": "tea"}'}
    calls = {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": function}]}
    tools = [{"type": "function", "function": {"name": "remember"}}]
    bare = estimate_messages([{"role": "user", "content": "one two three"}])
    assert bare > 3
    assert (
        estimate_messages([{"role": "user", "content": [{"type": "text", "text": "one two three"}]}]) == bare
    )
    with_call = estimate_messages([{"role": "user", "content": "one two three"}, calls])
    assert with_call > bare + estimate(function["arguments"])
    assert estimate_messages([{"role": "user", "content": "one two three"}], tools) > bare + 8


def test_an_answers_count_holds_reasoning_and_calls() -> None:
    assert estimate_answer("one two", "three", [ToolCall("a", "four", "{}")]) == 2 + 1 + 1 + 2


def test_a_text_is_split_at_words_with_overlap() -> None:
    parts = split(" ".join(f"w{number}" for number in range(100)), most=60, overlap=10)
    assert len(parts) > 2
    assert all(estimate(part) <= 60 for part in parts)
    assert set(" ".join(parts).split()) == {f"w{number}" for number in range(100)}
    assert parts[1].split()[0] in parts[0].split()
    assert split("short", 60, 10) == ["short"]
    assert split("", 60, 10) == [""]
