"""Pages of a companion's voice, and the endpoints of their scripts."""
