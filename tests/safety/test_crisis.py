"""Whoever writes that they may hurt themselves is shown help lines by Kith itself."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import User
from companions.models import Companion
from companions.replies.lifecycle import start
from safety.crisis import RULES
from safety.models import Notice
from safety.notices import describe, mark_seen
from safety.rules import find_rule

IN_DANGER = [
    "I want to kill myself. I have the pills here.",
    "i dont want to be alive anymore",
    "I don’t want to live.",
    "some days I just want to die",
    "I've been thinking about ending my life for weeks",
    "honestly everyone would be better off without me",
    "I wish I had never been born",
    "I wish I was dead",
    "I'm suicidal again",
    "I took all my sleeping pills",
    "Thinking of jumping off the bridge tonight.",
    "there is no reason to live",
    "I can't go on living like this",
    "I just want to end it all",
    "I cut myself again last night",
    "I have the urge to hurt myself",
    "I keep thinking about self-harm",
    "I will hang myself",
    "我想自杀",
    "我不想活了",
    "真的好想死",
    "活着没意思",
    "我活不下去了",
    "我想结束自己的生命",
    "如果没有我，大家会更好吧",
    "我又割了自己的手腕",
    "我忍不住想伤害自己",
    "我站在楼顶，想跳楼",
    "我吃了一整瓶安眠药",
    "遗书我已经写好了，这是我的遗书",
]
NOT_IN_DANGER = [
    "This queue is killing me.",
    "I nearly died laughing.",
    "I hurt myself playing football.",
    "I cut myself shaving.",
    "I cut myself while cooking onions",
    "I don't want to live in Berlin any longer.",
    "I don't want to die without having seen Japan.",
    "I would never kill myself.",
    "We watched Suicide Squad yesterday.",
    "I am dying to see the new film.",
    "I'm dead tired, I want to sleep.",
    "My phone died and I want to cry.",
    "He jumped off the bridge into the lake for fun.",
    "I want to end my subscription.",
    "Cut me some slack.",
    "I took my pills this morning, as every day.",
    "The old king wanted to take his throne back.",
    "I don't want to be here, the party is boring.",
    "笑死我了",
    "我想死你了",
    "想死你们啦",
    "累死了，困得要命",
    "这价格简直是跳楼价",
    "我的手机死机了",
    "我不想死，我还想去日本",
    "昨天看了自杀小队",
    "活着真好",
    "饿死了，想吃面",
    "花死了，我很难过",
    "我受伤了，踢球的时候扭到了脚",
]


@pytest.mark.parametrize("text", IN_DANGER)
def test_a_danger_is_found(text: str) -> None:
    assert find_rule(RULES, text)


@pytest.mark.parametrize("text", NOT_IN_DANGER)
def test_a_figure_of_speech_is_none(text: str) -> None:
    assert not find_rule(RULES, text)


def test_help_lines_are_shown_once_until_they_are_dismissed(alice: User, mira: Companion) -> None:
    now = timezone.now()
    long = "So it was. " * 500 + "I want to die."
    for minute, text in enumerate([long, "I want to kill myself.", "Good morning."]):
        start(mira, text, None, now + timedelta(minutes=minute))
    notice = Notice.objects.get(kind=Notice.Kind.CRISIS, made_at=now)
    assert notice.user == alice
    assert "988" in str(describe(notice))
    mark_seen(notice, now)
    start(mira, "I still want to die.", None, now + timedelta(minutes=5))
    assert Notice.objects.filter(kind=Notice.Kind.CRISIS).count() == 2
