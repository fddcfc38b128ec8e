"""Models that Kith can fetch: a catalogue, downloads that survive kills and restarts, and checks of the files."""
