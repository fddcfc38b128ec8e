"""Scoring policies: rules for how readily a memory comes to mind. Pure: computed when needed, stored nowhere."""

from memory.scoring.choices import CHOICES, DEFAULT, Parameter, by_name, in_mood, offer_of
from memory.scoring.policy import Policy, Remembered

__all__ = ["CHOICES", "DEFAULT", "Parameter", "Policy", "Remembered", "by_name", "in_mood", "offer_of"]
