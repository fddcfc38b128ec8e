"""A tone that swells and falls as syllables do, as long as it would take to say a text."""

import re

import numpy as np

from providers.sound.sound import Sound

RATE = 24_000
PITCH, SYLLABLES_A_SECOND = 220.0, 4.0
LOUD = 0.4
SECONDS_A_LETTER, SECONDS_A_SIGN, LEAST_SECONDS = 0.06, 0.22, 0.3
SIGN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def seconds_of(text: str) -> float:
    """How long the text is said; each sign of Chinese, Japanese and Korean is a syllable."""
    signs = len(SIGN.findall(text))
    return max(LEAST_SECONDS, signs * SECONDS_A_SIGN + (len(text) - signs) * SECONDS_A_LETTER)


def tone(seconds: float, *, is_silent: bool = False) -> Sound:
    """The tone, or the silence, of that length."""
    times = np.arange(round(seconds * RATE)) / RATE
    swell = np.abs(np.sin(np.pi * SYLLABLES_A_SECOND * times))
    wave = 0 * times if is_silent else LOUD * swell * np.sin(2 * np.pi * PITCH * times)
    return Sound((wave * 32_767).astype(np.int16), RATE)
