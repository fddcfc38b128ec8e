"""Whose words a cue asks for."""

import pytest

from memory.recall.query import find_speaker


@pytest.mark.parametrize(
    ("cue", "speaker"),
    [
        ("What did I say about my sister?", "user"),
        ("Which film did you recommend to me?", "companion"),
        ("Do you remember what I ate?", "user"),
        ("Can you please remind me what you told me?", "companion"),
        ("What's my favourite colour?", "user"),
        ("Tell me your advice again", "companion"),
        ("Who painted the Mona Lisa?", ""),
        ("你给我推荐过哪些画家？", "companion"),
        ("我和你推荐过一部电影", "user"),
        ("你还记得我看了什么展览吗？", "user"),
        ("你告诉过我哪些方法？", "companion"),
        ("天气怎么样", ""),
        ("", ""),
    ],
)
def test_the_first_person_named_is_meant(cue: str, speaker: str) -> None:
    assert find_speaker(cue) == speaker
