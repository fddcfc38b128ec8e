"""The answer about an inner state: a mood by the words that were said, and what moved it most, word for word."""

from typing import Any

from providers.rehearsal.structured import digest, feelings
from providers.rehearsal.structured.reading import Material, is_chinese
from providers.rehearsal.structured.sentences import Sentence, cited

MOST_MOVING, MOST_EARLIER = 2, 1
FEELS = {
    "happy": ("I feel glad.", "我觉得高兴。"),
    "sad": ("I feel sad.", "我觉得难过。"),
    "angry": ("I feel angry.", "我觉得生气。"),
    "surprised": ("I feel surprised.", "我觉得惊讶。"),
    "awkward": ("I feel awkward.", "我觉得有点尴尬。"),
    "curious": ("I feel curious.", "我觉得好奇。"),
    "neutral": ("I feel calm.", "我觉得平静。"),
}


def answer(material: Material) -> dict[str, Any]:
    """The reflection, in the form that is asked for."""
    words = " ".join(line.text for line in material.said if line.is_user)
    emotion, intensity = feelings.emotion(words)
    joy, aversion = feelings.joy(words), feelings.aversion(words)
    return {
        "text": _monologue(material, emotion),
        "valence": round(joy - aversion, 2),
        "arousal": max(intensity, round((joy + aversion) / 2, 2)),
        "emotion": emotion,
        "intensity": intensity,
    }


def _monologue(material: Material, emotion: str) -> str:
    """How it feels, what moves it, and the last of what it said to itself before."""
    telling = digest.most_telling(material, len(material.said))
    moving = [one for one in telling if one.line.is_user] or telling
    ranked = sorted(moving, key=lambda one: (_moves(one), one.weight), reverse=True)[:MOST_MOVING]
    new = [FEELS[emotion][material.is_chinese], *map(_moved, ranked)]
    earlier = [line for line in material.inner.splitlines() if line.strip() and line not in new]
    return "\n".join([*earlier[-MOST_EARLIER:], *new])


def _moves(sentence: Sentence) -> float:
    return feelings.joy(sentence.text) + feelings.aversion(sentence.text)


def _moved(sentence: Sentence) -> str:
    name, text = sentence.line.name, sentence.text
    if is_chinese(text):
        return (
            f"{name}的话留在我心里：{cited(text)}" if sentence.line.is_user else f"我自己说过：{cited(text)}"
        )
    who = f"What {name} said stays with me" if sentence.line.is_user else "What I said myself stays with me"
    return f"{who}: {cited(text)}"
