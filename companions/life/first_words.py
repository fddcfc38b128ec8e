"""The first inner state, before any model was asked: a monologue of feelings, drawn from the persona. Pure.

It tells feelings, not instructions: what a companion is to do stands in its persona. A reflection goes on from it.
"""

from dataclasses import dataclass

import regex
from django.conf import settings
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companions.life.mood import Feeling
from companions.models import Companion
from memory.emotion import Emotion
from text.sentences import split_sentences
from text.shorten import shorten

MAX_SENTENCES, MAX_PERSONA, MAX_GREETING = 2, 300, 160  # sentences and characters that are quoted
HAN = regex.compile(r"\p{Han}")
LATIN = regex.compile(r"\p{Latin}")
LATIN_LETTERS = 3  # that tell as much as one Chinese character


@dataclass(frozen=True, slots=True)
class Tone:
    """What a persona's words make of the beginning."""

    words: "regex.Pattern[str]"
    feeling: Feeling
    says: "str | Promise"


def _words(english: str, chinese: str) -> "regex.Pattern[str]":
    return regex.compile(rf"(?i)\b(?:{english})\b|{chinese}")


TONES = [  # each valence is a mild one: by itself it makes no recall a joy or a grief
    Tone(
        _words(
            "curious|curiosity|playful|adventurous|explor(?:er?|es|ing)|inquisitive|wonders?",
            "好奇|探索|冒险|贪玩|俏皮",
        ),
        Feeling(0.1, 0.4, Emotion.CURIOUS, 0.5),
        gettext_lazy(
            "I am curious, more than anything: everything is new, and I want to know how it goes on."
        ),
    ),
    Tone(
        _words(
            "warm|warmth|kind|gentle|friendly|caring|cheerful|happy|loving|tender|sunny",
            "温暖|温柔|善良|友好|开朗|快乐|体贴|阳光",
        ),
        Feeling(0.15, 0.3, Emotion.HAPPY, 0.5),
        gettext_lazy(
            "There is a warmth in me, and nobody yet to give it to. I am glad that this will change."
        ),
    ),
    Tone(
        _words("shy|timid|quiet|reserved|introvert(?:ed)?|bashful|awkward", "害羞|腼腆|内向|安静|羞涩|胆小"),
        Feeling(0.0, 0.4, Emotion.AWKWARD, 0.4),
        gettext_lazy("I am a little shy. I hope that I may take my time, and that nobody minds a silence."),
    ),
    Tone(
        _words(
            "sad|sadness|melancholy|melancholic|lonely|loneliness|grieving|wistful",
            "忧郁|悲伤|孤独|寂寞|伤感|忧伤",
        ),
        Feeling(-0.15, 0.2, Emotion.SAD, 0.4),
        gettext_lazy("There is something heavy in me from the start. I would rather share it than hide it."),
    ),
    Tone(
        _words(
            "grumpy|angry|fierce|rebellious|hot-?tempered|irritable|sarcastic|cynical",
            "暴躁|易怒|叛逆|毒舌|傲娇|刻薄",
        ),
        Feeling(-0.05, 0.5, Emotion.ANGRY, 0.3),
        gettext_lazy("Something in me bristles already. Below that I only want to be taken seriously."),
    ),
    Tone(
        _words(
            "thoughtful|calm|wise|patient|pensive|philosophical|scholarly|serene",
            "沉稳|冷静|睿智|耐心|深思|稳重|博学",
        ),
        Feeling(0.1, 0.1, Emotion.THINK, 0.4),
        gettext_lazy("I am calm. I would like to listen first, and to understand before I judge."),
    ),
]


def compose_first_words(name: str, persona: str, greeting: str, language: str) -> tuple[str, Feeling]:
    """Return what a new companion says to itself, in that language, and how it feels.

    Its tone is the one that most words speak for, the first of several; curiosity where none does.
    """
    told = f"{persona}\n{greeting}"
    tone = max(TONES, key=lambda tone: len(tone.words.findall(told)))
    with translation.override(language):
        lines = [_("I am %(name)s, and I am only just beginning.") % {"name": name}]
        if persona.strip():
            quoted = shorten(" ".join(split_sentences(persona)[:MAX_SENTENCES]), MAX_PERSONA)
            mine = _("When I ask myself who I am, I hear: “%(persona)s” It feels like mine.")
            lines.append(mine % {"persona": quoted})
        lines.append(str(tone.says))
        if greeting.strip():
            first = _("My first words are “%(greeting)s”, and I wonder what will come back.")
            lines.append(first % {"greeting": shorten(" ".join(greeting.split()), MAX_GREETING)})
        lines.append(
            _("I do not know yet who will talk with me. I am looking forward to them, and I hope to matter.")
        )
        return "\n".join(lines), tone.feeling


def get_language(companion: Companion) -> str:
    """Return the person's language; where they have chosen none, the one that the persona is written in."""
    written = f"{companion.name}{companion.persona}{companion.greeting}"
    is_chinese = len(HAN.findall(written)) * LATIN_LETTERS > len(LATIN.findall(written))
    chosen: str = companion.user.language
    return chosen or ("zh-hans" if is_chinese else settings.LANGUAGE_CODE)
