"""Many streams at once: one run of the load's client through a plan, and what every process spent on each step."""

import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from itertools import count
from uuid import uuid4

import psutil

from bench.common.place import ROOT, Usage
from bench.common.rows import person
from bench.run.plan import Plan
from bench.run.streams import Report, Seen, Wanted

STREAMS = 200
KEPT_SHARE = 0.97
MOST_MILLISECONDS = 250.0
MOST_GROWN = 30.0  # milliseconds each second: who carries 97 % of what is made falls behind so fast
Steps = list[tuple[int, float]]
_names = count()


@dataclass
class Load:
    """What a run saw, and each process's share of a core in each step."""

    report: Report
    shares: list[dict[str, float]] = field(default_factory=list)

    def kept(self) -> int:
        """The highest rate up to which every step was kept up with; 0 where the first was not."""
        highest = 0
        for step in self.report.steps:
            if not is_kept_up_with(step):
                break
            highest = step.rate
        return highest


def is_kept_up_with(step: Seen) -> bool:
    """Whether as many pieces were made as were asked for, and they came in time, without a growing delay."""
    is_timely = step.median <= MOST_MILLISECONDS / 2 and step.p95 <= MOST_MILLISECONDS
    is_steady = step.grown <= MOST_GROWN
    return is_timely and is_steady and step.pieces_per_second >= step.streams * step.rate * KEPT_SHARE


def through_kith(port: int, steps: Steps, start_seconds: float, **processes: psutil.Process) -> Load:
    """Streams through the sockets of as many new people, all of whom have asked after `start_seconds`."""
    people = [person(f"load{next(_names)}") for _ in range(STREAMS)]
    plan = Plan(time.time() + start_seconds, steps)
    frames = [
        json.dumps(
            {"type": "message.send", "text": f"Tell me the time {plan.text}", "client_id": str(uuid4())}
        )
        for _ in people
    ]
    paths, headers = [one.path for one in people], [one.header for one in people]
    return _run(Wanted(port, plan.text, frames, paths, headers, start_seconds / 2), plan, processes)


def through_bare(port: int, steps: Steps, start_seconds: float, **processes: psutil.Process) -> Load:
    """The same from the bare socket."""
    plan = Plan(time.time() + start_seconds, steps)
    paths, headers = ["/"] * STREAMS, [""] * STREAMS
    return _run(Wanted(port, plan.text, [plan.text] * STREAMS, paths, headers), plan, processes)


def straight(port: int, steps: Steps, start_seconds: float, **processes: psutil.Process) -> Load:
    """The same from the provider itself."""
    plan = Plan(time.time() + start_seconds, steps)
    body = json.dumps(
        {"model": "source", "stream": True, "messages": [{"role": "user", "content": plan.text}]}
    )
    return _run(Wanted(port, plan.text, [body] * STREAMS), plan, processes)


def _run(wanted: Wanted, plan: Plan, processes: dict[str, psutil.Process]) -> Load:
    command = [sys.executable, "-m", "bench.run.streams"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, text=True, stdin=pipe, stdout=pipe) as client:
        assert client.stdin
        assert client.stdout
        client.stdin.write(json.dumps(asdict(wanted)))
        client.stdin.close()
        shares = _watch(plan, processes | {"client": psutil.Process(client.pid)})
        said = client.stdout.read()
    if client.returncode:
        raise RuntimeError("The load's client failed")
    told = json.loads(said)
    return Load(Report(**told | {"steps": [Seen(**step) for step in told["steps"]]}), shares)


def _watch(plan: Plan, processes: dict[str, psutil.Process]) -> list[dict[str, float]]:
    """Each process's share of a core in each step."""
    shares = []
    for step in plan.steps:
        time.sleep(max(0.0, step.begins_at - time.time()))
        usage = Usage(**processes)
        time.sleep(max(0.0, step.ends_at - time.time()))
        shares.append(usage.shares())
    return shares
