"""What of a sentence is said aloud: its words, and nothing that is there for the eye alone."""

import pytest

from voice.speech.speech_filter import filter_speech


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("I am happy 😀👍🏽 today!", "I am happy today!"),
        ("你好🌸，世界。", "你好，世界。"),
        ("👨‍👩‍👧‍👦🇫🇷☀️❤️", ""),
        ("That is nice :) really :-D", "That is nice really"),
        ("So funny (^_^) and (｡•́‿•̀｡)!", "So funny and!"),
        ("*smiles warmly* Come in.", "Come in."),
        ("Come in. *closes the door*", "Come in."),
        ("*She smiles. She nods.*", ""),
        ("（微笑）你来了。", "你来了。"),
        ("你来了（轻轻地笑）。", "你来了。"),
        ("*轻轻地笑*你来了。", "你来了。"),
        ("(laughs) You are right.", "You are right."),
        ("I *really* like it.", "I really like it."),
        ("It is *mine*.", "It is mine."),
        ("Paris (the capital) is large.", "Paris (the capital) is large."),
        ("今天是周六（11月21日）。", "今天是周六（11月21日）。"),
        ("**Bold**, __strong__ and ~~gone~~.", "Bold, strong and gone."),
        ("## A heading", "A heading"),
        ("- [x] Buy milk", "Buy milk"),
        ("> quoted words", "quoted words"),
        ("See [the docs](https://example.org/a_(b)?q=1).", "See the docs."),
        ("Look at https://example.org/a?b=c, please.", "Look at please."),
        ("Look at www.example.org.", "Look at"),
        ("去 https://example.org/中文。看看", "去。看看"),
        ("Run `rm -rf /` now.", "Run rm -rf / now."),
        ("Call `save_all`, then ``a`b``.", "Call save_all, then ab."),
        ("`你好`是问候。", "你好是问候。"),
        ("`*args*` and ` alone.", "args and alone."),
        ("```\nx = 1\n```", ""),
        ("```never closed", ""),
        ("<emotion happy 0.7>Good to see you.", "Good to see you."),
        ("[joy] Good to see you.", "Good to see you."),
        ("a < b and c > d", "a < b and c > d"),
        ("snake_case_name and 2 * 3 * 4", "snake_case_name and 2 3 4"),
        ("---", ""),
        ("…", ""),
        ("?!", ""),
        ("| a | b |", "a, b"),
        ("3.14 is π.", "3.14 is π."),
    ],
)
def test_this_is_said(sentence: str, said: str) -> None:
    assert filter_speech(sentence) == said


@pytest.mark.parametrize("sign", ["*", "(", "（", "[", "<", "`", "_", "[](", "*a ", "http://", ":)"])
def test_hostile_repetition_takes_no_time(sign: str) -> None:
    assert isinstance(filter_speech(sign * 20_000), str)
