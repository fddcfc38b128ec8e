"""The load's client, a process of its own: many streams at once, each piece's delay measured, and little else done.

It reads one JSON object from its standard input (see `Wanted`) and writes one with what it saw. It speaks HTTP and
WebSocket by itself, with select: about 5 µs a read, where a client library takes 50 and would be what is measured.
"""

import base64
import json
import os
import re
import selectors
import socket
import struct
import sys
import time
from array import array
from dataclasses import asdict, dataclass, field

import numpy as np
from numpy.typing import NDArray

from bench.run.plan import ROUND, Plan, Step, since, stamp

Floats = NDArray[np.float64]
STAMP = re.compile(rb"([0-9a-f]{8}) ")
SEQ = re.compile(rb'"seq":(\d+)}$')
SETTLE_SECONDS = 1.0
END_SECONDS = 3.0
PING, PONG, TEXT = 0x9, 0xA, 0x1
NANO = 1e-9


@dataclass
class Wanted:
    """Streams of one plan: by sockets at `paths` or, without, by the provider; the first frames, or requests' bodies."""

    port: int
    plan: str
    opening: list[str]
    paths: list[str] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    spread_seconds: float = 2.0


@dataclass
class Seen:
    """One step of the plan: the pieces that were made in it, by their stamps, without its first second.

    Delays in milliseconds, from a piece's stamp to its arrival; `grown` is by how much the median grew each second, from
    the first quarter to the last.
    """

    rate: int
    streams: int
    pieces_per_second: float = 0.0
    frames_per_second: float = 0.0
    median: float = 0.0
    p95: float = 0.0
    p99: float = 0.0
    grown: float = 0.0


@dataclass
class Report:
    """What came of a plan: its steps, and how many streams began in time, ended, and were in order without a gap."""

    steps: list[Seen]
    last_began_seconds: float  # after the first was asked for
    late: int
    ended: int
    whole: int
    cpu: float  # the client's own, as a share of one core


@dataclass
class Log:
    """When pieces and frames arrived, of all streams together, in nanoseconds; the pieces' delays in microseconds."""

    arrivals: "array[int]" = field(default_factory=lambda: array("q"))
    delays: "array[int]" = field(default_factory=lambda: array("q"))
    frames: "array[int]" = field(default_factory=lambda: array("q"))
    ended: list[socket.socket] = field(default_factory=list)


class Stream:
    """One connection. `take` reads it and logs what came."""

    def __init__(self, wanted: Wanted, index: int, log: Log) -> None:
        self.log, self.opening = log, wanted.opening[index].encode()
        self.is_socket = bool(wanted.paths)
        self.connection = socket.create_connection(("127.0.0.1", wanted.port), timeout=30)
        self.rest = b""
        self.last, self.seq, self.is_whole = stamp(), 0, True
        self.first_at, self.is_ended = 0, False
        if self.is_socket:
            self._shake_hands(wanted.paths[index], wanted.headers[index])
        self.connection.setblocking(False)

    def _shake_hands(self, path: str, header: str) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", "Connection: Upgrade", "Upgrade: websocket"]
        lines += ["Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}", *([header] if header else [])]
        self.connection.sendall("\r\n".join([*lines, "", ""]).encode())
        while b"\r\n\r\n" not in self.rest:
            data = self.connection.recv(4096)
            if not data:
                sys.exit("The server hung up on a socket.")
            self.rest += data
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        if b" 101 " not in head:
            sys.exit(f"No socket: {head.decode()}")

    def open(self) -> None:
        """Ask for the stream."""
        if self.is_socket:
            self._send(TEXT, self.opening)
            return
        head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        self.connection.sendall(head + b"Content-Length: %d\r\n\r\n" % len(self.opening) + self.opening)

    def _send(self, opcode: int, payload: bytes) -> None:
        """A frame; its mask is nought, which leaves the payload as it is."""
        size = len(payload)
        length = bytes([0x80 | size]) if size < 126 else struct.pack("!BH", 0x80 | 126, size)
        self.connection.sendall(bytes([0x80 | opcode]) + length + bytes(4) + payload)

    def take(self) -> None:
        data = self.connection.recv(1 << 18)
        now = time.time_ns()
        if not data:
            self._end()
            return
        self.rest += data
        if self.is_socket:
            self._take_frames(now)
        else:
            self._take_events(now)

    def _take_frames(self, now: int) -> None:
        rest, at, size = self.rest, 0, len(self.rest)
        while size - at >= 2:
            length, begin = rest[at + 1], at + 2
            if length == 126:
                length, begin = int.from_bytes(rest[at + 2 : at + 4]), at + 4
            elif length == 127:
                length, begin = int.from_bytes(rest[at + 2 : at + 10]), at + 10
            if size < begin + length:
                break
            self._take_frame(rest[at] & 0xF, rest[begin : begin + length], now)
            at = begin + length
        self.rest = rest[at:]

    def _take_frame(self, opcode: int, payload: bytes, now: int) -> None:
        if opcode == PING:
            self._send(PONG, payload)
        elif payload.startswith(b'{"type":"reply.piece"'):
            self._take_pieces(payload, now)
            self._check(payload)
        elif payload.startswith((b'{"type":"reply.done"', b'{"type":"reply.interrupted"')):
            self._end()
        elif payload.startswith((b'{"type":"error"', b'{"type":"reply.failed"')) or opcode == 0x8:
            sys.exit(f"The stream failed: {payload.decode(errors='replace')}")

    def _take_events(self, now: int) -> None:
        whole, _, self.rest = self.rest.rpartition(b"\n")
        self._take_pieces(whole, now)
        if b"[DONE]" in whole or b"[DONE]" in self.rest:
            self._end()

    def _end(self) -> None:
        if not self.is_ended:
            self.is_ended = True
            self.log.ended.append(self.connection)

    def _check(self, payload: bytes) -> None:
        seq = SEQ.search(payload)
        self.seq += 1
        self.is_whole = self.is_whole and seq is not None and int(seq[1]) == self.seq

    def _take_pieces(self, payload: bytes, now: int) -> None:
        self.first_at = self.first_at or now
        self.log.frames.append(now)
        for text in STAMP.findall(payload):
            stamped = int(text, 16)
            self.is_whole = self.is_whole and (stamped - self.last) % ROUND < ROUND // 2
            self.last = stamped
            self.log.arrivals.append(now)
            self.log.delays.append(since(stamped))


def run(wanted: Wanted) -> Report:
    """Open all streams, spread over some seconds, and read them until the plan ends."""
    plan, log = Plan.read(wanted.plan), Log()
    streams = [Stream(wanted, index, log) for index in range(len(wanted.opening))]
    ready = selectors.DefaultSelector()
    for stream in streams:
        ready.register(stream.connection, selectors.EVENT_READ, stream.take)
    began, cpu = time.time(), time.process_time()
    waiting = list(reversed(streams))
    while time.time() < plan.ends_at + END_SECONDS and ready.get_map():
        due = int(len(streams) * (time.time() - began) / wanted.spread_seconds) + 1
        while waiting and len(streams) - len(waiting) < due:
            waiting.pop().open()
        for key, _ in ready.select(0.01 if waiting else 0.2):
            key.data()
        while log.ended:
            ended = log.ended.pop()
            ready.unregister(ended)
            ended.close()
    return _report(plan, streams, log, began, (time.process_time() - cpu) / (time.time() - began))


def _report(plan: Plan, streams: list[Stream], log: Log, began: float, cpu: float) -> Report:
    arrivals, delays, frames = (np.array(one) for one in (log.arrivals, log.delays, log.frames))
    steps = [_seen(step, len(streams), arrivals * NANO, delays / 1e3, frames * NANO) for step in plan.steps]
    first = [one.first_at * NANO for one in streams]
    late = sum(at == 0 or at > plan.steps[0].begins_at for at in first)
    return Report(
        steps,
        last_began_seconds=max(first) - began,
        late=late,
        ended=sum(one.is_ended for one in streams),
        whole=sum(one.is_whole for one in streams),
        cpu=cpu,
    )


def _seen(step: Step, streams: int, arrivals: Floats, delays: Floats, frames: Floats) -> Seen:
    begin, end = step.begins_at + SETTLE_SECONDS, step.ends_at
    made = arrivals - delays / 1e3
    is_inside = (made >= begin) & (made < end)
    inside, seconds = delays[is_inside], end - begin
    if not inside.size:
        return Seen(step.rate, streams)
    count = int(((frames >= begin) & (frames < end)).sum())
    median, p95, p99 = (float(np.percentile(inside, share)) for share in (50, 95, 99))
    grown = _grown((made[is_inside] - begin) / seconds, inside) / (seconds * 0.75)
    return Seen(step.rate, streams, inside.size / seconds, count / seconds, median, p95, p99, grown)


def _grown(when: Floats, delays: Floats) -> float:
    """By how much the median delay of the last quarter exceeds that of the first, the whole being from 0 to 1."""
    first, last = delays[when < 0.25], delays[when >= 0.75]
    return float(np.median(last) - np.median(first)) if first.size and last.size else np.inf


if __name__ == "__main__":
    json.dump(asdict(run(Wanted(**json.load(sys.stdin)))), sys.stdout)
