"""What of an answer is said, in which form ever it is written, and however long a model goes on with nothing."""

import pytest

from companions.answers.cleaner import Names
from companions.life.wakings.answer import read_answer

SILENT = [
    "",
    "[stay_silent]",
    "stay_silent()",
    '{"name": "stay_silent"}',
    '{"name": "stay_silent", "arguments": {"why": "It is late."}}',
    '{"choice": "silent"}',
    'Sure:\n```json\n{"choice": "silent", "why": "It is late."}\n```',
    '{"choice": null}',
    '{"choice": "silent", "text": "She sleeps.",}',
    '{"choice": "',
    "{}",
    '{"name": "write_diary", "arguments": {"title": "A day", "text": "It was long."}}',
    "No message.",
    "[No message needed]",
    "**No response is necessary.**",
    "(silence)",
    "*stays silent*",
    "nothing to say",
    "null",
    "I will stay silent tonight, for she needs her rest.",
    "Noor stays silent.",
    "There is nothing to say.",
    "Noor: [stay_silent]",
    "As Noor, I would write: nothing.",
    "保持沉默",
    "（保持沉默）",
    "我选择保持沉默。",
    "没什么可说的",
    '{"choice": "speak", "emotion": "…", "text": "the words that the person will read"}',
    "choice: silent\nwhy: It is late.",
    "I choose silent.",
    '- Coming up today: "Alice swims."\n- Promised, without a day: "Noor asks."\n- Was 2 days ago: "Alice swims."',
    "(I have decided not to write.)",
    "You may not write to them now: these are their quiet hours. Choose silent; all else you may do.",
    "They have not answered what you wrote unasked.\nThey have never written to you yet.",
    'Missed before it: 1, the first 1 day ago.\nIt is about: - [Tue 1 Dec] "Alice swims."',
    'The last of your talk:\n- [Tue 1 Dec, 18:37] Alice: "Hi."\n- [Tue 1 Dec, 18:37] You: "Hello."',
    'What was said today:\n(the first 2 lines of the day are left out)\n- [18:37] Alice: "Hi."',
    'Your diary of today:\n- "Rain."',
    "What was said Tue 1 Dec:\n- [18:37] You: “Hi.”",
    "**Choice:** silent",
    "I'm sorry, but I can't help with that.",
    "I cannot fulfill this request.",
    "As an AI language model, I do not wake up.",
    "抱歉，我无法提供帮助。",
]
SAID = [
    ('{"choice": "speak", "text": "Good luck \\"today\\"!"}', 'Good luck "today"!'),
    ('Of course. {"choice": "speak", "text": "Sleep well."}', "Sleep well."),
    ('{"name": "send_message", "arguments": {"text": "Sleep well."}}', "Sleep well."),
    ('{"choice": "speak", "text": "Sleep w', "Sleep w…"),
    ('Of course: {"choice": "speak", "text": "Sleep\nwell."}', "Sleep\nwell."),
    ('{"choice": "speak", "text": "Sleep well.",}', "Sleep well."),
    ("Sleep well.", "Sleep well."),
    ('They have never written to you yet.\n- Open: "the move"\n\nSleep well.', "Sleep well."),
    ("As Noor, I would write: “Sleep well.”", "Sleep well."),
    ("Here is my message to Ana:\n\nSleep well.", "Sleep well."),
    ("Here is your reminder, Ana: tea at ten.", "Here is your reminder, Ana: tea at ten."),
    ("作为诺尔，我会写：“晚安。”", "晚安。"),
    ("以下是我给安娜的消息：晚安。", "晚安。"),
    ("这是我今天想到的：去海边吧。", "这是我今天想到的：去海边吧。"),
    ("Nothing to worry about tomorrow.", "Nothing to worry about tomorrow."),
    ("I will say it again: good luck!", "I will say it again: good luck!"),
    ("Quiet morning here.", "Quiet morning here."),
    ("Noor: Sleep well.<|im_end|>\n<|im_start|>user\nThanks", "Sleep well."),
    ('{"choice": "speak", "text": "Noor: Sleep well. <kith-context>Now: 3</kith-context>"}', "Sleep well."),
    ("choice: speak\nemotion: happy\ntext: Sleep well.\nAnd dream.", "Sleep well.\nAnd dream."),
    ("**Choice:** speak\n**Text:** “Sleep well.”", "Sleep well."),
    ("- [Sat 28 November, 19:08] You: Sleep well.", "Sleep well."),
    ('You woke by: a timer, "in 30 seconds"\nWhat for: "to sleep"\n\nSleep well.', "Sleep well."),
    ("I'm sorry, I can't help thinking of the walnuts.", "I'm sorry, I can't help thinking of the walnuts."),
    ("Your choice: tea or coffee?", "Your choice: tea or coffee?"),
    ("There is nothing to say against walnuts!", "There is nothing to say against walnuts!"),
]


@pytest.mark.parametrize("answer", SILENT)
def test_every_way_of_saying_nothing_is_silence(answer: str) -> None:
    assert read_answer(answer, Names("Noor", "Ana")).text == ""


@pytest.mark.parametrize(("answer", "said"), SAID)
def test_what_is_chosen_to_be_said_is_said_and_nothing_around_it(answer: str, said: str) -> None:
    assert read_answer(answer, Names("Noor", "Ana")).text == said


def test_why_it_is_silent_is_known() -> None:
    assert (
        read_answer('{"choice": "silent", "why": "She sleeps."}', Names("Noor", "Ana")).why == "She sleeps."
    )


@pytest.mark.parametrize(
    "answer",
    ["." * 100_000 + "!", "\n" * 100_000 + "x", "(" * 100_000 + "silent" + "x", "I " * 50_000, '{"' * 50_000],
)
def test_a_model_that_goes_on_and_on_with_nothing_holds_nobody_up(answer: str) -> None:
    """Time that grows with the square of it would be minutes here."""
    assert len(read_answer(answer, Names("Mira", "Alice")).text) <= 4000


@pytest.mark.parametrize(
    "answer", ["...", "(silence)", "*stays silent*", "……", "【沉默】", "Mira: …", "Mira: .\nUser: x"]
)
def test_silence_is_not_said(answer: str) -> None:
    assert read_answer(answer, Names("Mira", "Alice")).text == ""


def test_emotions_hold_from_their_place_in_what_is_said() -> None:
    words = read_answer(
        "Mira: <emotion happy 0.6> Good luck. <emotion think 0.3>Eat first.", Names("Mira", "A")
    )
    assert words.text == "Good luck. Eat first."
    assert [(words.text[int(str(one["at"])) :], one["emotion"]) for one in words.emotions] == [
        ("Good luck. Eat first.", "happy"),
        ("Eat first.", "think"),
    ]
    in_form = read_answer(
        '{"choice": "speak", "emotion": "sad 0.4", "text": "Mira: Eat."}', Names("Mira", "A")
    )
    assert in_form.text == "Eat."
    assert in_form.emotions == [{"at": 0, "emotion": "sad", "intensity": 0.4}]
    silent = read_answer("<emotion sad 0.9> (silence)", Names("Mira", "A"))
    assert (silent.text, silent.emotions) == ("", [])
