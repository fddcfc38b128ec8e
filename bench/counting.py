"""Counts on the command line."""

import argparse


def count(text: str) -> int:
    """A whole number from 1 on."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)
