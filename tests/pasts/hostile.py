"""Files that are no talk, that are broken or lie, or that cost more than they look."""

import gzip
import json
import random
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

from tests.cards.corpus import V2, V3, escaped, png_of
from tests.files.hostile import SCRIPT, SVG
from tests.fixtures.hostile import ended_twice, flagged, lying, mutate
from tests.pasts.corpus import (
    TALK,
    cai_history,
    cai_turns,
    chatgpt,
    chatgpt_node,
    claude,
    deepseek,
    dumped,
    jsonl,
    kobold,
    risu_chat,
    sillytavern_lines,
    text_of,
    webui,
    zipped,
)

Make = Callable[[], bytes]
ZIP = zipped({"conversations.json": dumped([chatgpt()])})
LINES = jsonl(sillytavern_lines())
HEADER = b'{"user_name": "A", "character_name": "B", "chat_metadata": {}}\n'
NODE = b'{"message":{"author":{"role":"user"},"content":{"parts":["x"]}}}'
LINE = b'{"name": "A", "is_user": true, "mes": "%s"}'


def message(text: bytes, **fields: bytes) -> bytes:
    """A chat of one message, and what else stands in it."""
    more = b"".join(b', "%s": %s' % (key.encode(), value) for key, value in fields.items())
    return HEADER + b'{"name": "A", "is_user": true, "mes": "%s"%s}' % (text, more)


def conversations(count: int, nodes: int) -> bytes:
    """So many conversations of so many messages each."""
    parts = b", ".join(
        b'"%d": %s' % (n, dumped(chatgpt_node(str(n), None, [], "user", "x"))) for n in range(nodes)
    )
    return b"[" + b", ".join([b'{"title": "x", "mapping": {%s}}' % parts] * count) + b"]"


def in_chatgpt(value: bytes) -> bytes:
    """A conversation with this JSON beside its message."""
    return dumped([chatgpt()]).replace(b'"moderation_results": []', b'"moderation_results": ' + value)


def in_node(value: bytes) -> bytes:
    """A conversation with this JSON for the time of one message."""
    node = dumped(chatgpt_node("a", None, [], "user", "Hi", "HERE")).replace(b'"HERE"', value)
    return b'[{"title": "x", "mapping": {"a": %s}, "current_node": "a"}]' % node


def zeros(size: int) -> bytes:
    """A ZIP of 100 kB that holds so many zeros for the talk."""
    return zipped({"conversations.json": bytes(size)})


# What none of these may become is a past: the code that says why.
REFUSED: Mapping[str, tuple[str, Make]] = {
    "nothing": ("no_past", lambda: b""),
    "spaces": ("no_past", lambda: b" \n" * 1000),
    "noise": ("no_past", lambda: b"\0" + random.Random(1).randbytes(1_000_000)),
    "noise without zeros": (
        "wrong_encoding",
        lambda: random.Random(1).randbytes(1_000_000).replace(b"\0", b"x"),
    ),
    "101 MB": ("too_large", lambda: bytes(101_000_000)),
    "a page": ("no_past", lambda: b"<!doctype html>\n" + SCRIPT),
    "a drawing": ("no_past", lambda: SVG),
    "a program": ("no_past", lambda: b"\x7fELF" + bytes(1_000)),
    "a card": ("no_past", lambda: escaped(V3)),
    "a card in a PNG": ("no_past", lambda: png_of(V2)),
    "a CHARX": ("no_past", lambda: zipped({"card.json": escaped(V3), "chats/x.jsonl": LINES})),
    "a mind": ("no_past", lambda: b'{"selfName": "x", "longTermMemory": [], "shortTermMemory": []}'),
    "another program's JSON": ("no_past", lambda: b'{"name": "kith", "version": "1.0", "scripts": {}}'),
    "a number": ("no_past", lambda: b"12"),
    "a RAR": ("other_archive", lambda: b"Rar!\x1a\x07\0" + ZIP),
    "a squeezed file": ("no_past", lambda: gzip.compress(LINES)),
    # JSON
    "half a JSON": ("broken_json", lambda: dumped([chatgpt()])[:-200]),
    "JSON and more": ("broken_json", lambda: dumped([chatgpt()]) + b"x"),
    "two JSONs": ("broken_json", lambda: dumped([chatgpt()]) * 2),
    "a large JSON without an end": (
        "too_large",
        lambda: b'[{"mapping": {"a": {"message": "' + b"x" * 30_000_000,
    ),
    "a large JSON and more": ("broken_json", lambda: conversations(60, 800) + b"]"),
    "a number of ten thousand digits": ("broken_json", lambda: in_node(b"9" * 10_000)),
    "a number of twelve million digits": ("broken_json", lambda: in_node(b"9" * 12_000_000)),
    "24 MB of lists": ("too_large", lambda: b'[{"mapping": {"a": [' + b"[]," * 8_000_000 + b"[]]}}]"),
    "24 MB of lists, as lines": ("too_large", lambda: HEADER + b'{"mes": [' + b"[]," * 8_000_000 + b"[]]}"),
    "lists in lists": ("too_deep", lambda: in_chatgpt(b"[" * 100_000 + b"]" * 100_000)),
    "objects in objects": ("too_deep", lambda: in_chatgpt(b'{"a":' * 50_000 + b"1" + b"}" * 50_000)),
    "a line of lists in lists": (
        "too_deep",
        lambda: message(b"x", extra=b"[" * 100_000 + b"]" * 100_000),
    ),
    "lists without an end": ("too_deep", lambda: b'[{"mapping": ' + b"[" * 9_000_000),
    "a time that lists a million": ("too_large", lambda: in_node(b"[" + b"1," * 1_000_000 + b"1]")),
    # what there is of it
    "no message": ("no_messages", lambda: HEADER),
    "messages of nothing": ("no_messages", lambda: HEADER + LINE % b" \\n " + b"\n" + LINE % b"\\u0000"),
    "only broken lines": ("no_messages", lambda: HEADER + b"{x\n" * 100_000),
    "conversations of nothing": ("no_messages", lambda: b'[{"mapping": {}}, {"mapping": []}, 3]'),
    "a mapping of other things": (
        "no_messages",
        lambda: b'[{"mapping": {"a": 1, "b": {"message": [], "parent": 5}}}]',
    ),
    "chats of Claude of nothing": (
        "no_messages",
        lambda: b'[{"chat_messages": {"a": 1}}, {"chat_messages": [1, null, [], {"sender": []}]}, 3]',
    ),
    "200,001 messages of Claude": (
        "too_many_messages",
        lambda: b'{"chat_messages":[%s]}' % b",".join([b'{"sender":"human","text":"x"}'] * 200_001),
    ),
    "a million fragments of nothing": (
        "too_many_messages",
        lambda: (
            b'[{"inserted_at":0,"mapping":{%s}}]'
            % b",".join(b'"%d":{"message":{"fragments":[%s0]}}' % (n, b"0," * 240_000) for n in range(4))
        ),
    ),
    "a message of Claude of 100,001": (
        "message_too_long",
        lambda: b'[{"chat_messages":[{"sender":"human","text":"%s"}]}]' % (b"x" * 100_001),
    ),
    "histories of nothing": ("no_messages", lambda: b'{"histories": {"histories": [[], 1, {"msgs": 5}]}}'),
    "histories in histories": ("no_messages", lambda: b'{"histories":' * 60 + b"1" + b"}" * 60),
    "RisuAI's kind alone": ("no_messages", lambda: b'{"type": "risuChat", "data": {"message": {"0": 1}}}'),
    "200,001 lines": ("too_many_messages", lambda: HEADER + (LINE % b"x" + b"\n") * 200_001),
    "200,001 swipes": (
        "too_many_messages",
        lambda: message(b"x", swipes=b"[" + b'"x",' * 200_001 + b'"x"]'),
    ),
    "90,000 conversations of nothing": (
        "too_many_messages",
        lambda: b'[{"mapping":{}}' + b",{}" * 90_000 + b"]",
    ),
    "800,001 swipes of nothing": (
        "too_many_messages",
        lambda: b"\n".join([message(b"x", swipes=b'["x"' + b',""' * 400_000 + b"]")] * 3),
    ),
    "a million candidates of nothing": (
        "too_many_messages",
        lambda: b'{"turns":[%s]}' % b",".join([b'{"turn_key":1,"candidates":[%s0]}' % (b"0," * 240_000)] * 4),
    ),
    "a million parts of nothing": (
        "too_many_messages",
        lambda: (
            b'[{"mapping":{%s}}]' % b",".join([b'"":' + NODE.replace(b'"x"', b"0," * 240_000 + b"0")] * 4)
        ),
    ),
    "30 million empty lines": ("too_many_messages", lambda: HEADER + b"\n" * 30_000_000),
    "40 million lines of text": ("too_many_messages", lambda: b"A: x\n" * 19_000_000),
    "a message of 100,001": ("message_too_long", lambda: message(b"x" * 100_001)),
    "a message of 15 MB": ("message_too_long", lambda: message(b"x" * 15_000_000)),
    "a message of 99 MB": ("too_large", lambda: message(b"x" * 99_000_000)),
    "a title of 40 MB": (
        "too_large",
        lambda: in_chatgpt(b'"' + b"x" * 40_000_000 + b'"').replace(b"moderation_results", b"title"),
    ),
    "a swipe of 200,000": (
        "message_too_long",
        lambda: message(b"x", swipes=b'["x", "%s"]' % (b"y" * 200_000)),
    ),
    # text
    "a line without an end": ("message_too_long", lambda: b"A: x\nB: y\n" + b"x" * 90_000_000),
    "a message without an end": (
        "message_too_long",
        lambda: b"A: x\nB: y\nA: z\nB:\n" + b"x y z " * 200 + b"\n" + b"x y z\n" * 20_000,
    ),
    "a text of no talk": ("no_past", lambda: b"It was late.\nThe lamp was lit.\n" * 100),
    "Latin-1": ("wrong_encoding", lambda: "Anné: ça va\nMara: oui\n".encode("latin-1") * 10),
    "half a UTF-16": ("wrong_encoding", lambda: text_of("{name}: {text}").encode("utf-16")[:-1]),
    "a text with zeros": ("no_past", lambda: b"A: x\nB: y\nA: \0\nB: z\n"),
    # ZIP
    "a story without anybody": (
        "no_speakers",
        lambda: dumped(kobold(["It was late.", " The lamp was lit."])),
    ),
    "a story of 20 MB": (
        "too_large",
        lambda: dumped(kobold(["\nMara: x", "x" * 19_000_000, "x" * 1_000_000])),
    ),
    "a story of 400,001 pieces": ("too_many_messages", lambda: dumped(kobold(["\nMara: x"] * 400_001))),
    "a story of names alone": ("no_messages", lambda: dumped(kobold(["\nMara: "] * 1_000))),
    "200,001 pairs": (
        "too_many_messages",
        lambda: dumped({"internal": [["", "x"]] * 200_001, "visible": []}),
    ),
    "pairs of nothing": (
        "no_messages",
        lambda: b'{"internal": [[], [null], [{}, 1]], "visible": 3, "metadata": []}',
    ),
    "half a ZIP": ("broken_zip", lambda: ZIP[: len(ZIP) // 2]),
    "a ZIP without its list": ("broken_zip", lambda: ZIP[:40] + ZIP[-22:]),
    "a ZIP of noise": ("broken_zip", lambda: ZIP[:60] + random.Random(1).randbytes(300) + ZIP[360:]),
    "a ZIP of no talk": ("no_past", lambda: zipped({"word/document.xml": b"<x/>"})),
    "a ZIP of broken JSON": ("broken_json", lambda: zipped({"conversations.json": b"[{]"})),
    "a ZIP of a picture": ("no_past", lambda: zipped({"conversations.json": png_of(V2)})),
    "ZIPs in a ZIP": ("no_past", lambda: zipped({"conversations.json": ZIP})),
    "200 MB of zeros": ("too_large", lambda: zeros(200_000_000)),
    "99 MB of zeros": ("no_past", lambda: zeros(99_000_000)),
    "two times 51 MB": (
        "too_large",
        lambda: zipped({f"conversations-{n}.json": b"[" + b" " * 51_000_000 for n in range(2)}),
    ),
    "a size that is a lie": ("broken_zip", lambda: lying(ZIP, 10)),
    "a size that is a larger lie": ("too_large", lambda: lying(ZIP, 0xFFFF_FFF0)),
    "zeros that say they are few": ("broken_zip", lambda: lying(zeros(110_000_000), 1_000)),
    "30,000 files": (
        "too_many_files",
        lambda: zipped({f"a/{n}": b"" for n in range(30_000)}, zipfile.ZIP_STORED),
    ),
    "a list that says it has millions": ("too_many_files", lambda: ended_twice(ZIP, 2**40)),
    "a password": ("encrypted_zip", lambda: flagged(ZIP, 0x01)),
    "another packing": (
        "broken_zip",
        lambda: zipped({"conversations.json": dumped([chatgpt()])}, zipfile.ZIP_BZIP2),
    ),
}


# What is as large as a file may be, or costs as much: read by `python -m bench.hostile` alone, since it takes a second or
# two of each.
LARGE: Mapping[str, tuple[str, Make]] = {
    "99 MB of empty lists": ("too_large", lambda: b'[{"mapping": {"a": [' + b"[]," * 32_900_000 + b"[]]}}]"),
    "15 MB of empty lists, and 84 of text": (
        "no_messages",
        lambda: b'[{"x": [%s[]], "y": "%s", "mapping": {}}]' % (b"[]," * 4_900_000, b"z" * 84_000_000),
    ),
    "98 MB of line ends": ("no_messages", lambda: b'[{"x": "' + b"\\n" * 49_000_000 + b'", "mapping": {}}]'),
    "9 million texts": ("no_messages", lambda: b'[{"x": [' + b'"a",' * 9_000_000 + b'""], "mapping": {}}]'),
    "a million lists in 20 lists each": (
        "no_messages",
        lambda: b'[{"x": [%s[]], "mapping": {}}]' % ((b"[" * 20 + b"]" * 20 + b",") * 450_000),
    ),
    "lists in 100 lists each": (
        "no_past",
        lambda: b'[{"x": [%s[]], "mapping": {}}]' % ((b"[" * 100 + b"]" * 100 + b",") * 90_000),
    ),
    "99 MB of brackets": ("message_too_long", lambda: b"[" * 99_000_000),
    "99 MB of spaces": ("message_too_long", lambda: b" " * 99_000_000),
    "99 MB of lines that are no JSON": (
        "broken_json",
        lambda: HEADER + (b"{" + b"x" * 240 + b"\n") * 399_000,
    ),
    "210,000 nodes": (
        "too_many_messages",
        lambda: b'[{"mapping": {%s}}]' % b",".join(b'"%d":%s' % (n, NODE) for n in range(210_000)),
    ),
    "199,000 nodes without an end": (
        "broken_json",
        lambda: b'[{"mapping": {%s}' % b",".join(b'"%d":%s' % (n, NODE) for n in range(199_000)),
    ),
    "399,000 nodes of nothing": (
        "no_messages",
        lambda: b'[{"mapping": {%s}}]' % b",".join(b'"%d":0' % n for n in range(399_000)),
    ),
    "400,001 nodes of nothing": (
        "too_many_messages",
        lambda: b'[{"mapping": {%s}}]' % b",".join(b'"%d":0' % n for n in range(400_001)),
    ),
    "100,001 lines of nobody": (
        "too_many_messages",
        lambda: b"[2024-01-01 10:00] A: x\n" + b"[2024-01-01 10:00] \n" * 100_001,
    ),
    "a million lines of text": ("too_many_messages", lambda: b"A: x\nB: y\n" * 499_000),
    "a million lines with dates": (
        "too_many_messages",
        lambda: b"".join(
            b"%02d.%02d.20 10:%02d A: x\n" % (n // 60 % 28 + 1, n // 1680 % 12 + 1, n % 60)
            for n in range(999_000)
        ),
    ),
    "99,000 lines with dates, of nothing": (
        "no_messages",
        lambda: b"".join(
            b"%02d.%02d.20 10:%02d A: \n" % (n // 60 % 28 + 1, n // 1680 % 12 + 1, n % 60)
            for n in range(99_000)
        ),
    ),
    "90 MB of UTF-16": (
        "message_too_long",
        lambda: ("A: x\nB: y\n" + "\u98ce" * 45_000_000).encode("utf-16"),
    ),
}


def changed_nodes(**fields: Any) -> bytes:
    told = chatgpt()
    return dumped([{**told, "mapping": {key: {**node, **fields} for key, node in told["mapping"].items()}}])


# What is read all the same, and what is said of it: remarks.
ODD: Mapping[str, tuple[set[str], Make]] = {
    "half characters and zeros": ({"text_cleaned", "times_missing"}, lambda: message(b"a\\u0000b\\ud83d")),
    "half characters for names": (
        {"text_cleaned", "times_missing"},
        lambda: HEADER + b'{"name": "\\udc00\\u0000", "is_user": true, "mes": "x"}',
    ),
    "bytes that are no UTF-8": ({"text_cleaned", "times_missing"}, lambda: message(b"a\xff\xfe")),
    "a number of four thousand digits": ({"times_missing"}, lambda: in_node(b"9" * 4_000)),
    "a time beyond all": ({"times_missing"}, lambda: in_node(b"1e999")),
    "a time that is no number": ({"times_missing"}, lambda: in_node(b"NaN")),
    "a time in the year 999,999": ({"times_missing"}, lambda: in_node(b'"+999999-01-01T00:00:00Z"')),
    "a swipe beyond all": (
        {"times_missing"},
        lambda: message(b"x", swipes=b'["x", "y"]', swipe_id=b"9" * 400, swipe_info=b"[[]]"),
    ),
    "ids of other types": (
        {"system_left_out"},
        lambda: dumped([{**chatgpt(time=str), "id": [], "conversation_id": {}}]),
    ),
    "all nodes' own parents": ({"system_left_out"}, lambda: changed_nodes(parent="0-0")),
    "children of other types": (
        {"system_left_out"},
        lambda: changed_nodes(children=[1, None, {}, "system", "system", "root"]),
    ),
    "a long id": (
        {"times_missing"},
        lambda: dumped([{"mapping": {"k" * 100_000: chatgpt_node("", None, [], "user", "x")}}]),
    ),
    "one id for all": (
        {"times_missing"},
        lambda: dumped({"messages": [{"src__is_human": True, "text": "x", "id": "1"}] * 30_000}),
    ),
    "a long name": ({"times_missing"}, lambda: HEADER + b'{"name": "%s", "mes": "x"}' % (b"n" * 1_000_000)),
    "alternatives alone": (
        {"times_missing"},
        lambda: dumped([{"src__is_human": False, "text": "x", "is_alternative": True}] * 3),
    ),
    "turns without candidates": (
        set(),
        lambda: dumped({"turns": [*cai_turns(), {"turn_key": 1, "candidates": None}, {"candidates": [1]}]}),
    ),
    "programs and pages": ({"times_missing"}, lambda: message(b"<script>alert(1)</script>{{char}}${7*7}")),
    "names of programs": ({"times_missing"}, lambda: message(b"x", __proto__=b'{"x": 1}', __class__=b'"os"')),
    "a message of 100,000": ({"times_missing"}, lambda: message("玛".encode() * 100_000)),
    "files of other talks beside": (
        {"lines_left_out"},
        lambda: zipped({"a.jsonl": LINES + b"\n[1]\nnull\n3", "../../etc/b.jsonl": LINES}),
    ),
}
EXPECTED_TIMES = {"times_local"}  # of what SillyTavern writes; not asked for above


def mutated(seed: int) -> bytes:
    """One of the talks, broken by chance."""
    return bytes(mutate(random.Random(seed), SEEDS, WORDS))


SHORT = TALK[:3]
SEEDS = [
    dumped(kobold([f"\n{line.speaker}: {line.text}" for line in SHORT])),
    dumped(kobold(["{{[INPUT]}}Hi{{[OUTPUT]}}Mara: Yo[<|p|7|p|>]"])),
    dumped(webui(SHORT)),
    jsonl(sillytavern_lines(SHORT)),
    jsonl(sillytavern_lines(SHORT), "\r\n"),
    json.dumps(sillytavern_lines(SHORT)).encode(),
    dumped([chatgpt(SHORT)]),
    dumped([claude(SHORT)]),
    dumped([deepseek(SHORT)]),
    dumped([deepseek(SHORT, older=True)]),
    json.dumps(chatgpt(SHORT), indent=1).encode(),
    dumped({"histories": [cai_history(SHORT)]}),
    dumped({"turns": cai_turns(SHORT)}),
    dumped({"type": "risuAllChats", "ver": 2, "data": [risu_chat(SHORT)]}),
    text_of("[{date}] {name}: {text}").encode(),
    text_of("{date} - {name}: {text}").encode(),
    text_of("{name}: {text}").encode(),
    text_of("--{name}\n{text}").encode(),
    zipped({"conversations.json": dumped([chatgpt(SHORT)])}, zipfile.ZIP_STORED),
    zipped({"a.jsonl": jsonl(sillytavern_lines(SHORT)), "b.jsonl": b"{}"}),
]
WORDS = [
    b"PK\3\4",
    b"PK\1\2",
    b"PK\5\6",
    b"PK\6\7",
    b"\n",
    b"\r",
    b"\0",
    b'"mapping":{',
    b'"chat_messages":[',
    b'"inserted_at":0,',
    b'"parent":"root",',
    b'"children":["root","system"],',
    b'"message":null,',
    b'"swipes":["a","b"],"swipe_id":1,',
    b'"send_date":1e400,',
    b'"create_time":-1e18,',
    b'"mes":[],',
    b"NaN",
    b"1e999",
    b'"\\ud800\\u0000"',
    b"[" * 2_000,
    b"{" * 30,
    b"9" * 5_000,
    b"99/99/9999, 99:99 - : ",
    b"[0000-00-00 00:00] A: ",
    "：下午\u200e\u202f".encode(),
    b"<think>",
    b"</think>",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
]
