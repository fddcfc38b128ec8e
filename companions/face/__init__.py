"""A companion's drawn face: its features from a seed, its expressions, its drawing."""
