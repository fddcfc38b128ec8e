"""Scoring policies: how much a memory comes to mind, by one rule or another. Pure: computed when read, stored nowhere."""

from memory.policies.choices import CHOICES, DEFAULT, by_name, in_mood, offer_of
from memory.policies.parameters import Parameter
from memory.policies.policy import Policy
from memory.policies.remembered import Remembered

__all__ = ["CHOICES", "DEFAULT", "Parameter", "Policy", "Remembered", "by_name", "in_mood", "offer_of"]
