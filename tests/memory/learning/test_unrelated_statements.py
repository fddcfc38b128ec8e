"""Two hundred unrelated statements, each with a verdict that wants to close or reinforce something, do neither."""

from datetime import timedelta

import pytest

from companions.models import Companion
from memory.models import Memory
from tests.memory.conftest import DAY
from tests.memory.learning.conftest import Had, apply, facts, learnt

KNOWN = {
    "en": [
        "Alice works as a nurse at the children's hospital.",
        "Alice's favourite drink is tea without sugar.",
        "Alice's sister Ida gets married in June.",
        "Alice is allergic to walnuts.",
        "Alice pays 900 euros of rent.",
        "Alice plays the cello in an orchestra.",
        "Alice broke her wrist on the ski slope.",
        "Alice is afraid of flying.",
        "I promised Alice to remind her of the dentist.",
        "Alice wants to run a marathon in Edinburgh.",
    ],
    "zh": [
        "小爱在儿童医院当护士。",
        "小爱喝茶不放糖。",
        "小爱的姐姐六月结婚。",
        "小爱对核桃过敏。",
        "小爱每月房租九百。",
        "小爱在乐团拉大提琴。",
        "小爱滑雪摔断了手腕。",
        "小爱害怕坐飞机。",
        "我答应提醒小爱看牙医。",
        "小爱想跑爱丁堡马拉松。",
    ],
}
# What is said of what: each with each, a hundred a language. Some say no, some that it is over.
WHO = {
    "en": [
        *[
            "The neighbour",
            "Alice's old teacher",
            "The man next door",
            "Alice's cousin",
            "Somebody on the bus",
        ],
        *[
            "The woman at the till",
            "Alice's uncle",
            "A girl in Alice's class",
            "The postman",
            "Alice's landlady",
        ],
    ],
    "zh": [
        "隔壁邻居",
        "她以前的老师",
        "楼下的大叔",
        "她表弟",
        "公交车上有个人",
        "收银的阿姨",
        "她舅舅",
        "班上一个女孩",
        "快递小哥",
        "房东太太",
    ],
}
WHAT = {
    "en": [
        "has painted the fence yellow",
        "does not water the roses any more",
        "sold a rusty tractor",
        "no longer believes in horoscopes",
        "found a turtle under the bridge",
        "is not going to vote this spring",
        "collects stamps from Peru",
        "gave up juggling after 3 lessons",
        "repaired the umbrella with tape",
        "never wears gloves in the snow",
    ],
    "zh": [
        "把篱笆刷成了黄色",
        "不再浇玫瑰花了",
        "卖掉了一台生锈的拖拉机",
        "不信星座了",
        "在桥底下捡到一只乌龟",
        "今年春天不去投票",
        "收集秘鲁邮票",
        "学了三节课杂耍就放弃了",
        "用胶带修好了雨伞",
        "下雪天从来不戴手套",
    ],
}


def unrelated(language: str) -> list[str]:
    return [
        f"{who} {what}." if language == "en" else f"{who}{what}。"
        for who in WHO[language]
        for what in WHAT[language]
    ]


VERDICTS = ["revise", "retract", "reinforce"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_hundred_unrelated_statements_that_want_to_close_something_close_and_reinforce_nothing(
    mira: Companion, had: Had, language: str
) -> None:
    """Ten talks of ten statements; the verdicts take turns, and each wants another of the ten that are known."""
    for text in KNOWN[language]:
        own = "> " if text.startswith(("I ", "我")) else ""
        apply(mira, had(mira, f"{own}{text}"), learnt(text, 1, text))
    known = sorted(facts(mira), key=lambda one: KNOWN[language].index(one.text))
    said = unrelated(language)
    assert len(set(said)) == 100
    for n in range(10):
        texts = said[10 * n : 10 * n + 10]
        talk = had(mira, *texts, at=DAY + timedelta(days=1 + n))
        told = [
            learnt(text, line + 1, text, verdict=VERDICTS[(2 * n + line) % 3], of=(n + line) % 10 + 1)
            for line, text in enumerate(texts)
        ]
        apply(mira, talk, *told, known=known)
    assert Memory.objects.of(mira.pk).exclude(closed_at=None).count() == 0
    kept = facts(mira)
    assert {one.evidence for one in kept} == {1}
    assert len(kept) == 10 + 67  # what was to be retracted is not kept
