"""Emotions in the forms that engines take them in."""

from types import MappingProxyType

FAINT, STRONG = 0.35, 0.7
INSTRUCTIONS = MappingProxyType(
    {
        "happy": "cheerful and warm",
        "sad": "sad and quiet",
        "angry": "angry and sharp",
        "think": "thoughtful and slow",
        "surprised": "surprised",
        "awkward": "awkward and hesitant",
        "question": "puzzled",
        "curious": "curious and lively",
    }
)
MARKERS = MappingProxyType(  # the words that Fish Audio's S1 models were trained on
    {
        "happy": "(happy)",
        "sad": "(sad)",
        "angry": "(angry)",
        "surprised": "(surprised)",
        "awkward": "(embarrassed)",
        "question": "(confused)",
        "curious": "(curious)",
    }
)


def instruction(emotion: str, intensity: float) -> str:
    """How to speak, as a sentence for a model; empty where there is nothing to show."""
    how = INSTRUCTIONS.get(emotion, "")
    much = "slightly " if intensity < FAINT else "very " if intensity > STRONG else ""
    return f"Sound {much}{how}." if how and intensity > 0 else ""
