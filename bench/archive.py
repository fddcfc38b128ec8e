"""`make prove-archive`: does a companion of 5,000 messages and 1,000 memories come back whole in a second Kith?

It is given branches and a journal, exported, and restored into another database by a process that is killed at random
several times before it may finish. Then all rows are compared but for ids, and the recall of 200 cues.
"""

import json
import os
import random
import subprocess
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import django
import psutil
import psycopg

from bench.common.command import count, machine, parser
from bench.common.place import ROOT, Place

if TYPE_CHECKING:
    from companions.models import Companion

SECOND = "second"
AS_OF = datetime(2100, 1, 1, tzinfo=UTC)
LEARNT_EVERY = 5  # messages
BRANCHES = 5
SEED = 11
KILL_SHARES = (0.05, 0.2, 0.35, 0.5)  # of the time that a whole restore takes
LIMIT = 10  # memories of each recall


def main() -> None:
    """Fill, export, kill, restore, compare, and print as it goes."""
    asks = parser("archive", __doc__)
    asks.add_argument("--messages", type=count, default=5_000)
    asks.add_argument("--memories", type=count, default=1_000)
    asks.add_argument("--cues", type=count, default=200)
    asks.add_argument("--child", nargs="*", help="for itself: a step in a process of its own")
    asked = asks.parse_args()
    if asked.child:
        django.setup()
        CHILDREN[asked.child[0]](*asked.child[1:])
        return
    print(
        f"Kith on {machine()}: {asked.messages:,} messages, {asked.memories:,} memories, {asked.cues} cues."
    )
    with Place() as place:
        first, second = dict(os.environ), _make_second(place)
        cues = str(asked.cues)
        companion = _fill(asked.messages, asked.memories)
        archive = str(place.folder / "companion.zip")
        _, took, peak = _run(first, "export", str(companion.pk), archive)
        print(
            f"exported in {took:.1f} s, at most {peak:.0f} MB of memory; {Path(archive).stat().st_size / 1e6:.1f} MB"
        )
        _run(first, "tell", str(companion.pk), cues, str(place.folder / "before.json"))
        whole = _restore(second, archive)
        restored, _, _ = _run(second, "find")
        _run(second, "tell", restored, cues, str(place.folder / "after.json"))
        _compare(place.folder)
        _kill_often(second, archive, whole)


def _make_second(place: Place) -> dict[str, str]:
    """Return the environment of another Kith: a database and a folder of its own."""
    with psycopg.connect(place.stores.database_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {SECOND}")
    url = urlsplit(place.stores.database_url)._replace(path=f"/{SECOND}").geturl()
    home = place.folder / SECOND
    home.mkdir()
    second = {**os.environ, "DATABASE_URL": url, "KITH_HOME": str(home)}
    subprocess.run(
        [sys.executable, "-m", "config.up.prepare"], cwd=ROOT, env=second, check=True, capture_output=True
    )
    return second


def _run(environment: dict[str, str], *step: str) -> tuple[str, float, float]:
    """Return what the step printed last, how long it took, and the most memory (MB) that its process held."""
    child, began, peak = _start(environment, *step), time.monotonic(), 0.0
    while child.poll() is None:
        with suppress(psutil.NoSuchProcess):
            peak = max(peak, psutil.Process(child.pid).memory_info().rss / 1e6)
        time.sleep(0.02)
    assert child.stdout is not None
    told = child.stdout.read().strip().splitlines()
    if child.returncode:
        raise SystemExit(f"{step[0]} failed")
    return told[-1] if told else "", time.monotonic() - began, peak


def _start(environment: dict[str, str], *step: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "bench.archive", "--child", *step]
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


def _restore(second: dict[str, str], archive: str) -> float:
    """Restore it once, undisturbed; return how long that took."""
    upload, _, _ = _run(second, "bring", archive)
    _, _, plain = _run(second, "nothing")
    told, _, peak = _run(second, "restore", upload)
    print(
        f"restored in {float(told):.1f} s, at most {peak:.0f} MB of memory ({plain:.0f} MB before it begins)"
    )
    return float(told)


def _kill_often(second: dict[str, str], archive: str, whole: float) -> None:
    """Kill the restoring process at several moments; after each nothing is there, and at the end there is one more."""
    before, _, _ = _run(second, "count")
    upload, _, _ = _run(second, "bring", archive)
    for share in KILL_SHARES:
        child = _start(second, "restore", upload)
        _wait_for_begin(second, upload)
        time.sleep(whole * share)
        child.kill()
        if child.wait() == 0:
            print(f"at {share:.0%} of the time it was done already")
            break
        left, _, _ = _run(second, "count")
        print(f"killed (-9) at {share:.0%} of the time: {'nothing' if left == before else left} stays")
        if left != before:
            raise SystemExit("Something of a killed restore is there.")
        _run(second, "expire", upload)
    else:
        _run(second, "restore", upload)
    found, _, _ = _run(second, "find")
    both = json.loads(_run(second, "count")[0])
    once = json.loads(before)
    doubled = {name: 2 * rows for name, rows in once.items() if name != "waiting"}
    if {name: both[name] for name in doubled} != doubled:
        raise SystemExit(f"Not exactly one more: {both}")
    print(f"run again it is there once, as a second companion ({found})")


def _wait_for_begin(second: dict[str, str], upload: str) -> None:
    """Return once a worker has taken the upload."""
    with psycopg.connect(second["DATABASE_URL"], autocommit=True) as connection:
        query = "SELECT attempts FROM companions_archiveupload WHERE id = %s"
        while connection.execute(query, [upload]).fetchone() == (0,):
            time.sleep(0.005)


def _compare(folder: Path) -> None:
    from tests.fixtures.alike import find_difference

    before, after = (json.loads((folder / f"{name}.json").read_text()) for name in ("before", "after"))
    if difference := find_difference(before["rows"], after["rows"]):
        raise SystemExit(f"They differ: {difference}")
    rows = sum(map(len, before["rows"].values()))
    print(f"{rows:,} rows in {sum(map(bool, before['rows'].values()))} tables are equal but for ids")
    same = sum(mine == theirs for mine, theirs in zip(before["recalled"], after["recalled"], strict=True))
    found = sum(map(len, before["recalled"]))
    print(
        f"recall is the same for {same} of {len(before['recalled'])} cues ({found:,} memories, with their scores)"
    )
    if same != len(before["recalled"]):
        raise SystemExit("Recall differs.")


def _fill(messages: int, memories: int) -> "Companion":
    from bench.common import rows
    from bench.common.sentences import sentence
    from companions.branches.operations import choose, fork
    from companions.face.portraits import choose_features
    from companions.models import Branch, Message
    from memory.embedding import embed_waiting
    from memory.store import keep_fact

    began, chance = time.monotonic(), random.Random(SEED)
    companion = rows.person("mover").companion
    # Else its face follows from its id, and is kept by a row that is new.
    choose_features(companion, SEED, {})
    rows.live_through(companion, messages, chance)
    said = list(Message.objects.filter(companion=companion).order_by("said_at"))
    for number in range(memories):
        source = said[number * LEARNT_EVERY % len(said)]
        keep_fact(companion.pk, sentence(chance), source.said_at, source.said_at, source_ids=[source.pk])
    now = said[-1].said_at
    for number in range(1, BRANCHES + 1):
        now += timedelta(minutes=1)
        fork(companion, said[len(said) * number // (BRANCHES + 1)].pk, now)
        keep_fact(companion.pk, sentence(chance), now, now)
    choose(Branch.objects.get(companion=companion, head=said[-1]), now + timedelta(minutes=1))
    embed_waiting(companion.pk, messages + memories + BRANCHES)
    print(f"made and embedded in {time.monotonic() - began:.0f} s")
    return companion


# -- steps, each in a process of its own


def _export(companion_id: str, archive: str) -> None:
    from django.core.management import call_command

    call_command("export_archive", companion_id, archive)


def _bring(archive: str) -> None:
    from accounts.models import User
    from companions.archives import uploads

    user, _ = User.objects.get_or_create(
        email="new@example.org", defaults={"name": "Mover", "time_zone": "Europe/Berlin"}
    )
    with open(archive, "rb") as file:
        upload = uploads.keep_upload(user, file, datetime.now(UTC))
    uploads.begin(upload, datetime.now(UTC))
    print(upload.pk)


def _restore_upload(upload_id: str) -> None:
    from uuid import UUID

    from companions.archives import uploads
    from companions.models import ArchiveUpload

    began = time.monotonic()
    uploads.run(UUID(upload_id), lambda: datetime.now(UTC))
    print(time.monotonic() - began)
    upload = ArchiveUpload.objects.get(pk=upload_id)
    if upload.state != ArchiveUpload.State.DONE:
        raise SystemExit(upload.error)


def _expire(upload_id: str) -> None:
    """Have the lease of whoever died end."""
    from companions.models import ArchiveUpload

    ArchiveUpload.objects.filter(pk=upload_id).update(look_at=datetime.now(UTC), attempts=0)


def _find() -> None:
    from companions.models import Companion

    print(Companion.objects.order_by("-created_at", "-pk").values_list("pk", flat=True)[0])


def _count() -> None:
    """Tell how many rows there are in all tables that travel."""
    from companions.archives.sections import SECTIONS

    print(
        json.dumps(
            {
                name: section.model._base_manager.count()
                for name, section in SECTIONS.items()
                if name != "files"
            }
        )
    )


def _tell(companion_id: str, cues: str, path: str) -> None:
    """Write down every row, and what each cue brings to mind."""
    from accounts.limits.usage import Payer
    from bench.common.sentences import sentence
    from companions.models import Companion
    from memory.embedding import embed_cue, embed_waiting
    from memory.recall.recall import recall
    from tests.fixtures.alike import read_rows

    companion = Companion.objects.get(pk=companion_id)
    while embed_waiting(companion.pk, 10_000):
        pass
    recalled: list[Any] = []
    chance = random.Random(SEED + 1)
    for _number in range(int(cues)):
        cue = sentence(chance)
        vector = embed_cue(cue, Payer(companion.user_id, companion.pk), companion.names)
        found = recall(companion.pk, cue, LIMIT, now=AS_OF, zone=companion.user.zone, vector=vector)
        recalled.append([[hit.memory.text, hit.memory.happened_at.isoformat(), hit.score] for hit in found])
    Path(path).write_text(json.dumps({"rows": read_rows(companion.pk), "recalled": recalled}))


CHILDREN: dict[str, Any] = {
    "bring": _bring,
    "count": _count,
    "expire": _expire,
    "export": _export,
    "find": _find,
    "nothing": lambda: None,
    "restore": _restore_upload,
    "tell": _tell,
}

if __name__ == "__main__":
    main()
