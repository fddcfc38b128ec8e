"""A companion's drawn face: its features (drawn from a seed), its expressions, and the SVG drawing."""
