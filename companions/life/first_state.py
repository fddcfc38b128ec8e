"""The first inner state of a companion, composed from its persona without a model: feelings, not instructions."""

from contextlib import suppress
from dataclasses import asdict
from datetime import datetime

import regex
from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _

from companions.life.inner_state import Feeling, fit_text, get_newest
from companions.models import Companion, InnerState
from companions.models.companion import lock
from database.journal import everywhere
from memory.emotion import Emotion
from memory.language import HAN
from text.strings import shorten, split_sentences

SEEDED_AT_ONCE = 200
MAX_SENTENCES, MAX_PERSONA, MAX_GREETING = 2, 300, 160  # sentences and characters that are quoted
LATIN = regex.compile(r"\p{Latin}")
LATIN_LETTERS = 3  # count as much as one Chinese character
GLAD = Feeling(0.15, 0.3, Emotion.HAPPY, 0.6)  # so mild a valence does not colour recalls by itself


@everywhere()
def seed(companion: Companion, now: datetime) -> InnerState:
    """Return the companion's newest inner state; create the first one if there is none.

    Raise Companion.DoesNotExist.
    """
    if not lock(companion.pk):
        raise Companion.DoesNotExist
    before = get_newest(companion.pk)
    return before or begin(companion, now)


def begin(companion: Companion, now: datetime) -> InnerState:
    """Create and return the first inner state, composed from the persona. The companion must be new or locked."""
    greetings, number = companion.greetings, companion.conversation.greeting or 0
    begun_with = greetings[number] if number < len(greetings) else companion.greeting
    persona, greeting = companion.expand(companion.persona), companion.expand(begun_with)
    text = compose_first_words(companion.name, persona, greeting, get_language(companion))
    return InnerState.objects.create(
        companion=companion,
        number=1,
        text=fit_text(text),
        **asdict(GLAD),
        by=InnerState.By.SEED,
        made_at=now,
    )


def seed_missing(now: datetime) -> int:
    """Seed the inner states of companions that have none, at most SEEDED_AT_ONCE; return how many."""
    missing = list(Companion.objects.filter(inner_states=None).select_related("user")[:SEEDED_AT_ONCE])
    for companion in missing:
        with suppress(Companion.DoesNotExist):  # deleted meanwhile
            seed(companion, now)
    return len(missing)


def compose_first_words(name: str, persona: str, greeting: str, language: str) -> str:
    """Return the text of a new companion's first inner state, in that language: it is glad of the meeting."""
    with translation.override(language):
        lines = [_("I am %(name)s, and I am only just beginning.") % {"name": name}]
        if persona.strip():
            quoted = shorten(" ".join(split_sentences(persona)[:MAX_SENTENCES]), MAX_PERSONA)
            mine = _("When I ask myself who I am, I hear: “%(persona)s” It feels like mine.")
            lines.append(mine % {"persona": quoted})
        if greeting.strip():
            first = _("My first words are “%(greeting)s”, and I am curious what will come back.")
            lines.append(first % {"greeting": shorten(" ".join(greeting.split()), MAX_GREETING)})
        lines.append(
            _(
                "Someone has just come to talk with me. I do not know them yet, I am glad that they are here, and I"
                " look forward to getting to know them."
            )
        )
        return "\n".join(lines)


def get_language(companion: Companion) -> str:
    """Return the person's language, or else the language in which the persona is written, Chinese or the default."""
    written = f"{companion.name}{companion.persona}{companion.greeting}"
    is_chinese = len(HAN.findall(written)) * LATIN_LETTERS > len(LATIN.findall(written))
    chosen: str = companion.user.language
    return chosen or ("zh-hans" if is_chinese else settings.LANGUAGE_CODE)
