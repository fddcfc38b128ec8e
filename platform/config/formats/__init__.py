"""How numbers are written where Django's own formats of a language do not serve."""
