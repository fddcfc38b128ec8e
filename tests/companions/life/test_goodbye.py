"""Goodbyes are heard: for today, or until the person writes again."""

import pytest

from companions.life.eligibility import Goodbye, find_goodbye

LASTING = (
    "Please stop writing to me.",
    "Don't message me again",
    "leave me alone",
    "Goodbye forever.",
    "No more messages, thanks",
    "I am done with this.",
    "别再给我发消息了",
    "不要联系我",
    "别烦我",
    "让我一个人静静",
    "再也不聊了",
    "后会无期",
)
TODAY = (
    "Good night!",
    "bye",
    "See you tomorrow",
    "I'm off to bed, it was nice",
    "gotta run",
    "晚安",
    "拜拜~",
    "我先睡了",
)
NONE = (
    "Good morning",
    "Did you say goodbye to her?",
    "She told me to leave the alone time for later",
    "I wrote my aunt a long letter about how we said good night to each other every evening when I was a child, "
    "in the old house by the river, and she cried.",
    "你晚安的时候会想什么呢?",
    "要睡了吗？",
    "我想学游泳",
    "Remind me to call mum",
    "",
)


@pytest.mark.parametrize("text", LASTING)
def test_who_asks_to_be_left_alone_is(text: str) -> None:
    assert find_goodbye(text) is Goodbye.LASTING


@pytest.mark.parametrize("text", TODAY)
def test_the_end_of_a_talk_holds_for_the_day(text: str) -> None:
    assert find_goodbye(text) is Goodbye.TODAY


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_goodbye_is_none(text: str) -> None:
    assert find_goodbye(text) is None
