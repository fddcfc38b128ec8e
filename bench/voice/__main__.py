"""Measure what Kith adds to a voice: from the model's last piece of the first sentence to its first byte of sound.

Beside it stands the engine's own time for that very sentence, told by the engine itself. One call, ten at once in which
people listen to what they hear, and ten that take no breath, for where it ends.
"""

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from urllib.request import urlopen

import numpy as np

from bench.common.command import count, machine, parser
from bench.common.place import Place, printing_its_port
from bench.voice.calls import Heard, hold
from config.up.run import web_program

MOST_ADDED = 100.0


def main(arguments: Sequence[str]) -> int:
    """0 where Kith adds at most 100 ms to one call, and to each of ten at once, by the median."""
    asked = parser("voice", __doc__)
    asked.add_argument("--calls", type=count, default=10, metavar="N", help="how many at once")
    asked.add_argument("--rounds", type=count, default=20, metavar="N", help="how often each person speaks")
    given = asked.parse_args(arguments)
    print(machine())
    with Place() as place, printing_its_port("bench.voice.provider") as (_process, provider):
        from bench.common import rows

        address = f"http://127.0.0.1:{provider}/v1"
        os.environ |= {f"{of}_BASE_URL": address for of in ("SPEECH", "TRANSCRIPTION")}
        place.environment |= {
            **{f"{of}_BASE_URL": address for of in ("SPEECH", "TRANSCRIPTION")},
            **{f"{of}_MODEL": "times" for of in ("SPEECH", "TRANSCRIPTION")},
            "SPEECH_ENGINE": "openai",
            "KITH_SPEECH_CHARACTERS_PER_DAY": "100000000",
            "KITH_HEARING_SECONDS_PER_DAY": "100000000",
        }
        people = [rows.person(f"caller{number}") for number in range(given.calls + 1)]
        with place.web(web_program, address, "times") as (_child, port):
            asyncio.run(hold(port, people[:1], 3))  # what is only once, such as the first connection
            alone = asyncio.run(hold(port, people[:1], given.rounds))
            calling = asyncio.run(hold(port, people[1:], given.rounds // 2, listens=True))
            together = asyncio.run(hold(port, people[1:], given.rounds // 2))
        told = _times(provider)
    added = _show("one call", alone, told)
    added = max(added, _show(f"{given.calls} calls at once", calling, told))
    _show(f"{given.calls} at once who never pause to listen", together, told)
    return 0 if added <= MOST_ADDED else 1


def _times(port: int) -> dict[str, dict[str, float]]:
    with urlopen(f"http://127.0.0.1:{port}/times", timeout=10) as response:
        times: dict[str, dict[str, float]] = json.loads(response.read())
        return times


def _show(name: str, heard: Sequence[Heard], told: dict[str, dict[str, float]]) -> float:
    """The median of what was added, in milliseconds; all of it is printed."""
    turns = [(one, told[str(one.number)]) for one in heard]
    whole = [one.heard_at - turn["sent"] for one, turn in turns]
    engine = [turn["spoken"] - turn["asked"] for _one, turn in turns]
    rows = {
        "last piece of the sentence to first byte of its sound": whole,
        "the engine's own time for it": engine,
        f"added by Kith (target: median at most {MOST_ADDED:.0f})": np.subtract(whole, engine),
        "  of which until the engine was asked": [turn["asked"] - turn["sent"] for _one, turn in turns],
        "  of which after it had spoken": [one.heard_at - turn["spoken"] for one, turn in turns],
        "end of the utterance to first byte of the answer's sound": [
            one.heard_at - one.said_at for one, _ in turns
        ],
    }
    print(f"\n{f'{name}, {len(heard)} turns, in milliseconds':<62}  median     p95")
    for title, seconds in rows.items():
        values = np.asarray(seconds) * 1000
        print(f"  {title:<60}{np.median(values):>8.1f}{np.percentile(values, 95):>8.1f}")
    return float(np.median(np.subtract(whole, engine)) * 1000)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
