"""Pages of a companion's voice, and what their scripts ask."""
