"""Samples a second."""

SLOWEST, FASTEST = 4_000, 48_000  # what a Sound may have; what comes faster is brought down to it
MOST_DECLARED = 768_000  # what a file may say of itself
OF_MP3 = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000)
