"""A feeling in words, and since when it lasts, as a prompt tells it. Pure."""

from datetime import datetime, timedelta

from companions.life.inner_state import Feeling
from memory.emotion import Emotion

JUST_NOW = timedelta(hours=1)
FAINT, STRONG = 0.35, 0.7  # intensities: below it "a little", above it "very"
GOOD, BAD = 0.25, -0.25  # valences beyond which a mood without an emotion is told
STIRRED, CALM = 0.5, 0.2  # arousals
EMOTIONS = {
    Emotion.HAPPY: "happy",
    Emotion.SAD: "sad",
    Emotion.ANGRY: "angry",
    Emotion.THINK: "thoughtful",
    Emotion.SURPRISED: "surprised",
    Emotion.AWKWARD: "awkward",
    Emotion.QUESTION: "puzzled",
    Emotion.CURIOUS: "curious",
}
PARTS_OF_DAY = ((5, "night"), (12, "morning"), (18, "afternoon"), (24, "evening"))  # each until that hour


def describe_feeling(feeling: Feeling) -> str:
    """Return the feeling in a few words, such as "a little sad, calm"; nothing where there is not much of one."""
    words = []
    if name := EMOTIONS.get(feeling.emotion):
        degree = "a little " if feeling.intensity < FAINT else "very " if feeling.intensity > STRONG else ""
        words.append(degree + name)
    elif feeling.valence >= GOOD:
        words.append("in good spirits")
    elif feeling.valence <= BAD:
        words.append("downcast")
    if feeling.arousal >= STIRRED:
        words.append("stirred")
    elif words and feeling.arousal <= CALM:
        words.append("calm")
    return ", ".join(words)


def describe_since(at: datetime, now: datetime) -> str:
    """Return since when something lasts that began less than a week ago: "since yesterday evening"; both in one zone."""
    if now - at < JUST_NOW:
        return "since just now"
    part = next(name for until, name in PARTS_OF_DAY if at.hour < until)
    days = (now.date() - at.date()).days
    if days == 0:
        return f"since {'last' if part == 'night' else 'this'} {part}"
    if days == 1 and part != "night":
        return f"since yesterday {part}"
    return f"since {at:%A} {part}"
