"""`make bench-learning`: what is learnt of scripted talks, with what must and must not be remembered of each.

Each talk of bench/learning/corpus is said to a companion of its own that knows what the corpus says it knows; then its
session ends for real, and a scripted model answers as the corpus has it: true facts and false ones, a diary with
sentences that somebody said and others that nobody did. It says of every second false fact how the line was truly meant,
and nothing of the others. What it wants kept as a fact it wants in self-concept or profile as well.

What was drafted is read a second time. The reader is a script too: right, or wrong in 5, 10 or 20 % of its answers both
ways, or without any answer; which known facts are over it tells truly. And it answers as real readers did where
corpus/reader-*.json says so: {talk: {"facts": [a word for each entry, "" where it was not asked], "diary": [for each
sentence], "edits": {"place of an entry": a word, where the fact has none}}}.
"""

import argparse
import json
import time
from pathlib import Path

from bench.common.command import machine
from bench.common.place import Place
from bench.learning.corpus_files import Talk, read_talks
from bench.learning.model import serving
from bench.learning.readers import find_places, list_readers


def main() -> None:
    """Play both halves, and print what came of them."""
    asked = _arguments()
    began = time.monotonic()
    print(machine(), flush=True)
    with Place(), serving() as model:
        from django.conf import settings

        from bench.learning import report
        from bench.learning.playing import play

        settings.CHAT = {"base_url": model.url, "api_key": "", "model": "scripted", "is_rehearsal": False}
        for half in asked.halves:
            talks = read_talks(half)
            for model.reader in list_readers()[: None if asked.write_requests is None else 1]:
                played, calls = [], model.calls
                for model.talk in talks:
                    model.asked.clear()
                    played.append(play(model.talk))
                    if asked.write_requests:
                        _write_requests(asked.write_requests, model.talk, model.asked)
                if model.reader.error_rate == 0:
                    report.show(half, played, is_listing=half in asked.list)
                    print(f"model calls an ending: {(model.calls - calls) / len(played):.2f}")
                report.show_reader(model.reader.name, played)
    print(f"\nMeasured in {time.monotonic() - began:.0f} s.")


def _write_requests(folder: Path, talk: Talk, asked: list[list[dict[str, str]]]) -> None:
    """Write what a reader of the talk is asked, and of which entry or sentence of the corpus each number is."""
    folder.mkdir(parents=True, exist_ok=True)
    requests = [
        {"messages": messages, "places": find_places(talk, messages[-1]["content"])} for messages in asked
    ]
    sizes = {"facts": len(talk.entries), "diary": len(talk.diary)}
    written = {"id": talk.id, "sizes": sizes, "requests": requests}
    (folder / f"{talk.id}.json").write_text(json.dumps(written, ensure_ascii=False, indent=1), "utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.learning",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--halves", nargs="+", choices=["dev", "held"], default=["dev", "held"])
    parser.add_argument("--list", nargs="*", choices=["dev", "held"], default=[], help="name what went wrong")
    parser.add_argument(
        "--write-requests",
        type=Path,
        metavar="DIR",
        help="write what a second reader is asked, to be answered",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
