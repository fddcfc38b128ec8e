"""`make bench-prompts`: what each kind of request to the model costs in tokens, part by part, and what of it is new.

Ten kinds are composed as they are sent, without a model's answer: the first message, ordinary ones, after a tool, a
waking, an ending. Beside them talks of forty turns are sent, one with a group of tools asked for in its middle, one that
fills the context: of each prompt the tokens after the longest beginning that it shares with the one before are what a
server with one slot has to read anew.
"""

import sys
import time

from bench.common.command import machine
from bench.common.place import Place, asking
from tests.fixtures.rehearsal import RehearsalServer


def main() -> None:
    """Compose all, and print two tables."""
    began = time.monotonic()
    with RehearsalServer() as model, asking(model.url), Place():
        from bench.prompts.kinds import compose_kinds, compose_talk
        from bench.prompts.report import show_kinds, show_talk

        print(f"Tokens by part, estimated as Kith does; {machine()}", flush=True)
        show_kinds(compose_kinds(model))
        show_talk(compose_talk())
    print(f"\nMeasured in {time.monotonic() - began:.0f} s.", file=sys.stderr)


if __name__ == "__main__":
    main()
