"""A companion whose own model is away and one that is offered another, for bench/screenshots/seed.py."""

from datetime import datetime

from companions.minds.comparison.measures import Answer, Occasion
from companions.minds.comparison.report import measure_differences
from companions.models import Companion, ComparedExchange, Comparison, Mind, Prompt, Reply

OWN, OTHER = "qwen3:8b", "mistral-small3.2:24b-instruct"
ANSWERS = {
    "en": (
        "The night train, then. I kept the timetable.",
        "Why the night train? And who comes along, Robin?",
    ),
    "zh-hans": ("那就坐夜车吧，时刻表我留着呢。", "为什么坐夜车？Robin，谁跟您一起去？"),
}


def compare(companion: Companion, language: str, now: datetime) -> None:
    """Give the companion a comparison that has ended, over what was said with it."""
    Mind.objects.create(companion=companion, model=OWN, prompt_version="12")
    comparison = Comparison.objects.create(
        companion=companion, own_model=OWN, other_model=OTHER, created_at=now, ended_at=now
    )
    own, other = ANSWERS[language]
    replies = list(Reply.objects.filter(companion=companion, state="done").select_related("message")[:12])
    exchanges = []
    for number, reply in enumerate(replies):
        prompt = Prompt.objects.create(companion=companion, reply=reply, messages=[], created_at=now)
        mine, others = f"{own} " * (number % 2 + 1), f"{other} " * (number % 3 + 1)
        ComparedExchange.objects.create(
            comparison=comparison, prompt=prompt, own_text=mine, other_text=others
        )
        occasion = Occasion(reply.message.text, [], companion.user.name)
        exchanges.append((occasion, Answer(mine), Answer(others)))
    comparison.report = measure_differences(exchanges, None, seed=1)
    comparison.save(update_fields=["report"])


def send_away(companion: Companion, reply: Reply) -> None:
    """Have the failed reply wait for the companion's own model, which is not there."""
    Mind.objects.create(companion=companion, model=OWN, prompt_version="12")
    Reply.objects.filter(pk=reply.pk).update(code="model_missing", model="")
