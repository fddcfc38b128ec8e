"""python -m bench.hostile [--only cards pasts archives]: what comes of each hostile file of the tests, and at what cost.

Cards and earlier talk are read as where somebody brings one: by a child in the sandbox, of which the most memory is told.
An archive is brought and restored by this process, in place of a worker, and the most memory is told beyond what it held
before. What is left of each on the disk and in the database is counted: nothing.
"""

import io
import logging
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench.common.command import machine, parser
from bench.common.place import Place

if TYPE_CHECKING:
    from accounts.models import User
    from tests.files.hostile import Make
    from tests.fixtures.hostile import Measured

READERS = ("cards", "pasts", "archives")
MOST_SECONDS, MOST_MEGABYTES = 2.0, 256 * 1024**2 / 1e6  # that are promised
WORST = 5
RESET_PEAK = "5"  # to /proc/self/clear_refs


class Outcome(NamedTuple):
    """What became of one file."""

    reader: str
    name: str
    sentence: str
    seconds: float  # as one waits for it
    computed: float  # of them by the processor, for it alone
    megabytes: float
    left: int  # files and rows

    def __str__(self) -> str:
        cost = f"{self.seconds:6.2f} s {self.computed:5.2f} s {self.megabytes:4.0f} MB {self.left or '–':>3}"
        return f"{self.reader:<9}{self.name:<44.44} {cost}  {self.sentence:.90}"


def main() -> None:
    """Bring them all, and print as it goes."""
    asks = parser("hostile", __doc__)
    asks.add_argument("--only", nargs="*", choices=READERS, default=READERS)
    asked = asks.parse_args()
    print(f"Kith on {machine()}. The time of each, what was computed, the most memory, and what is left.")
    outcomes: list[Outcome] = []
    with Place() as place:
        for reader in asked.only:
            for outcome in bring_archives() if reader == "archives" else read_files(reader, place.folder):
                outcomes.append(outcome)
                print(outcome, flush=True)
    print_worst(outcomes)
    sys.exit(any(outcome.left for outcome in outcomes))


def print_worst(outcomes: Sequence[Outcome]) -> None:
    print("\nThe longest:", *sorted(outcomes, key=lambda told: -told.computed)[:WORST], sep="\n")
    print("\nThe largest:", *sorted(outcomes, key=lambda told: -told.megabytes)[:WORST], sep="\n")
    over = sum(told.computed > MOST_SECONDS or told.megabytes > MOST_MEGABYTES for told in outcomes)
    left = sum(told.left for told in outcomes)
    print(
        f"\n{len(outcomes)} files; {over or 'none'} computed for more than {MOST_SECONDS:.0f} s or took more than"
        f" {MOST_MEGABYTES:.0f} MB;"
        f" {left or 'nothing'} is left of them."
    )


# -- cards, and earlier talk: read by a child ------------------------------------------------------------------------


def read_files(reader: str, folder: Path) -> Iterator[Outcome]:
    """Read each of the files that are refused, and of those that are read all the same."""
    import cards.reader
    import pasts.reader
    from tests.cards import hostile as hostile_cards
    from tests.fixtures.hostile import Measured
    from tests.pasts import hostile as hostile_pasts

    child = Measured(f"{reader}.child", folder)
    if reader == "cards":
        files: Mapping[str, tuple[object, Make]] = {**hostile_cards.REFUSED, **hostile_cards.ODD}
        remarks = cards.reader.REMARKS
    else:
        files, remarks = (
            {**hostile_pasts.REFUSED, **hostile_pasts.LARGE, **hostile_pasts.ODD},
            pasts.reader.REMARKS,
        )

    def read(content: bytes) -> str:
        if reader == "cards":
            told: Sequence[str] = cards.reader.read_card(content, command=child.command).remarks
        else:
            told = pasts.reader.read_past(content, command=child.command).remarks
        return " ".join(["Read.", *(str(remarks[code]) for code in told)])

    for name, (_expected, make) in files.items():
        yield read_file(reader, name, make(), read, child)


def read_file(
    reader: str, name: str, content: bytes, read: Callable[[bytes], str], child: "Measured"
) -> Outcome:
    """Read one, while whatever would be written by the way is written into a folder."""
    from files.errors import FilesError

    with tempfile.TemporaryDirectory() as here:
        tempfile.tempdir = here
        began = time.monotonic()
        try:
            sentence = read(content)
        except FilesError as error:
            sentence = str(error.detail)
        finally:
            tempfile.tempdir = None
        took, used = time.monotonic() - began, child.read_used()
        left = len(os.listdir(here))
    return Outcome(
        reader, name, sentence, took, used.seconds if used else 0.0, used.megabytes if used else 0.0, left
    )


# -- archives: restored here -----------------------------------------------------------------------------------------


def bring_archives() -> Iterator[Outcome]:
    """Bring and restore each in the place of whoever made it, as a worker does."""
    from accounts.models import User
    from tests.companions.archives.everything import live_fully
    from tests.companions.archives.hostile import EDITS, ZIPS, make_hostile
    from tests.companions.archives.packing import pack

    warnings.filterwarnings("ignore", "Duplicate name")
    logging.disable(logging.INFO)  # that each is refused
    alice, bob = (
        User.objects.create_user(f"{name}@example.org", name=name.title(), time_zone="Europe/Berlin")
        for name in ("alice", "bob")
    )
    archive = pack(live_fully(alice))
    before = count_everything()
    try_archive(bob, b"PK")  # what is loaded for the first one is not the first one's
    for name in [*EDITS, *ZIPS]:
        content = make_hostile(name, archive)
        held = reset_peak()
        began, computed = time.monotonic(), time.process_time()
        sentence = try_archive(bob, content)
        took, computed = time.monotonic() - began, time.process_time() - computed
        yield Outcome(
            "archives", name, sentence, took, computed, read_peak() - held, count_everything() - before
        )


def try_archive(user: "User", content: bytes) -> str:
    """Return what its person is told; the row that tells it is dropped."""
    from django.utils import timezone

    from accounts.errors import RefusedError
    from companions.archives import uploads

    try:
        upload = uploads.keep_upload(user, io.BytesIO(content), timezone.now())
    except RefusedError as error:
        return str(error.detail)
    uploads.begin(upload, timezone.now())
    uploads.run(upload.pk, timezone.now)
    upload.refresh_from_db()
    sentence = upload.error or f"It is {upload.state}."
    upload.delete()
    return sentence


def count_everything() -> int:
    """Return how many rows of companions, memories and files there are, and how many files on the disk."""
    from django.apps import apps
    from django.conf import settings

    rows = sum(
        model._base_manager.count()
        for label in ("companions", "memory", "files", "voice")
        for model in apps.get_app_config(label).get_models()
    )
    folder = Path(settings.STORAGES["private"]["OPTIONS"]["location"])
    return rows + sum(path.is_file() for path in folder.rglob("*"))


def reset_peak() -> float:
    """Count the most memory of this process anew; return what it holds (MB)."""
    Path("/proc/self/clear_refs").write_text(RESET_PEAK)
    return read_peak()


def read_peak() -> float:
    """Return the most memory (MB) that this process held since."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM"))


if __name__ == "__main__":
    main()
