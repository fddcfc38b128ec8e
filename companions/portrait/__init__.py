"""A companion's drawn face: its features from a seed, its expressions, its drawing."""

from companions.portrait.drawing import svg
from companions.portrait.expressions import EXPRESSIONS, expression
from companions.portrait.features import TABLES, Features, of_seed
from companions.portrait.poses import poses

__all__ = ["EXPRESSIONS", "TABLES", "Features", "expression", "of_seed", "poses", "svg"]
