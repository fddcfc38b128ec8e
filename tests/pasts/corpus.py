"""One talk as each program writes it: every form, every way of telling times, and the habits that are met."""

import html
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from pasts.past import Past, TextPattern
from tests.cards.corpus import zipped

ZONE = ZoneInfo("Asia/Shanghai")
BEGIN = datetime(2024, 2, 27, 22, 40, tzinfo=ZONE)
# A message by the texts from the first one to it: who said it, whether it was the person, and when.
Paths = dict[tuple[str, ...], tuple[str, bool, datetime | None]]
Raw = dict[str, Any]


class Line(NamedTuple):
    """One turn of a talk; `others` might have been said instead."""

    speaker: str
    is_person: bool
    text: str
    others: Sequence[str] = ()


TALK = [
    Line("Mara", False, "*looks up* You are late.", ["Oh. It is you.", "Who is there? 🌊"]),
    Line("Ann Lee", True, "I know: sorry.\n\nThe storm — 风暴 — kept me."),
    Line("Mara", False, 'Sit. "Tea?"', ["Hm."]),
    Line("Ann Lee", True, "Yes"),
    Line("Keeper", False, "The lamp is lit."),
]
PLAIN = [line._replace(others=()) for line in TALK]  # for what knows no alternatives


def moment(number: int) -> datetime:
    """When each turn was said: minutes over midnight, in the zone that is not told."""
    return BEGIN + timedelta(minutes=37 * number)


def paths(past: Past) -> Paths:
    """What was read, as it can be compared whatever the ids are."""
    found: Paths = {}
    places: dict[str | None, tuple[str, ...]] = {None: ()}
    for message in past.messages:
        place = (*places[message.parent], message.text)
        places[message.id] = place
        assert place not in found, "each is there once"
        found[place] = (message.speaker, message.is_person, message.at)
    return found


def leaf(past: Past) -> tuple[str, ...]:
    """The texts of the path that was chosen."""
    parents = {message.id: message for message in past.messages}
    texts, at = [], past.leaf
    while at is not None:
        texts.append(parents[at].text)
        at = parents[at].parent
    return tuple(reversed(texts))


def expected(
    talk: Sequence[Line],
    *,
    has_times: bool | Callable[[int], bool] = True,
    names: Callable[[Line], str] = lambda line: line.speaker,
) -> Paths:
    """What is to be read of the talk."""
    found: Paths = {}
    place: tuple[str, ...] = ()
    for number, line in enumerate(talk):
        is_timed = has_times(number) if callable(has_times) else has_times
        at = moment(number).astimezone(UTC) if is_timed else None
        for text in (line.text, *line.others):
            found[*place, text] = (names(line), line.is_person, at)
        place = (*place, line.text)
    return found


# -- times -----------------------------------------------------------------------------------------------------------


def humanised(at: datetime) -> str:
    return f"{at.year}-{at.month}-{at.day} @{at.hour:02}h {at.minute:02}m {at.second:02}s 0ms"


def american(at: datetime) -> str:
    return f"{at:%B} {at.day}, {at.year} {at.hour % 12 or 12}:{at.minute:02}{'pm' if at.hour > 11 else 'am'}"


TIMES: dict[str, Callable[[datetime], object]] = {
    "humanised": humanised,
    "humanised, short": lambda at: f"{at:%Y-%m-%d@%Hh%Mm%Ss}",
    "American": american,
    "milliseconds": lambda at: int(at.timestamp() * 1000),
    "milliseconds in words": lambda at: str(int(at.timestamp() * 1000)),
    "seconds": lambda at: at.timestamp(),
    "microseconds": lambda at: int(at.timestamp() * 1_000_000),
    "ISO": lambda at: at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
    "ISO with an offset": lambda at: at.isoformat(),
    "ISO without a zone": lambda at: at.replace(tzinfo=None).isoformat(),
    "database": lambda at: at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.000000+00:00"),
}
TEXT_TIMES: dict[str, Callable[[datetime], str]] = {
    "2024-02-27 22:40": lambda at: f"{at:%Y-%m-%d %H:%M}",
    "2024-02-27 22:40:00": lambda at: f"{at:%Y-%m-%d %H:%M:%S}",
    "2024/2/27 下午10:40": lambda at: (
        f"{at.year}/{at.month}/{at.day} {'下午' if at.hour > 11 else '上午'}{at.hour % 12 or 12}:{at.minute:02}"
    ),
    "2024年2月27日 22:40": lambda at: f"{at.year}年{at.month}月{at.day}日 {at:%H:%M}",
    "27/02/2024, 22:40": lambda at: f"{at:%d/%m/%Y, %H:%M}",
    "2/27/24, 10:40 PM": lambda at: f"{at.month}/{at.day}/{at:%y}, {at.hour % 12 or 12}:{at:%M}\u202f{at:%p}",
    "27.02.24, 22:40:00": lambda at: f"{at:%d.%m.%y, %H:%M:%S}",
    "27 Feb 2024 22:40": lambda at: f"{at:%d %b %Y %H:%M}",
}


# -- what each program writes ----------------------------------------------------------------------------------------


def dumped(told: object) -> bytes:
    return json.dumps(told, ensure_ascii=False).encode()


def escaped(told: object) -> bytes:
    return json.dumps(told, indent=1).encode()


def sillytavern_lines(
    talk: Sequence[Line] = TALK, time: Callable[[datetime], object] = humanised, header: Raw | None = None
) -> list[Raw]:
    if header is None:
        header = {
            "user_name": "Ann Lee",
            "character_name": "Mara",
            "create_date": "2024-2-27 @22h 40m 00s 000ms",
            "chat_metadata": {"integrity": "0b1c-77", "note_prompt": "", "variables": {}},
        }
    lines = [header] if header else []
    for number, line in enumerate(talk):
        told: Raw = {
            "name": line.speaker,
            "is_user": line.is_person,
            "is_system": False,
            "send_date": time(moment(number)),
            "mes": line.text,
            "extra": {"api": "openai", "model": "x", "token_count": 12},
        }
        if line.others:
            info = {"send_date": time(moment(number)), "gen_started": "2024-02-27T14:40:00.000Z", "extra": {}}
            told |= {
                "swipes": [*line.others[:1], line.text, *line.others[1:]],
                "swipe_id": 1,
                "swipe_info": [info] * (len(line.others) + 1),
            }
        lines.append(told)
    return lines


def jsonl(lines: Sequence[Raw], end: str = "\n") -> bytes:
    return end.join(json.dumps(line, ensure_ascii=False) for line in lines).encode()


def chatgpt_node(
    key: str,
    parent: str | None,
    children: Sequence[str],
    role: str = "",
    text: str = "",
    at: object = None,
    **more: Any,
) -> Raw:
    message = {
        "id": key,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": at,
        "update_time": None,
        "content": {"content_type": "text", "parts": [text]},
        "status": "finished_successfully",
        "end_turn": True,
        "weight": 1.0,
        "metadata": {"model_slug": "gpt-4o", "timestamp_": "absolute"},
        "recipient": "all",
    }
    return {
        "id": key,
        "message": {**message, **more} if role else None,
        "parent": parent,
        "children": list(children),
    }


def chatgpt(talk: Sequence[Line] = TALK, time: Callable[[datetime], object] = TIMES["seconds"]) -> Raw:
    """One conversation: a root without a message, the system's one, and the talk with its other answers."""
    nodes = {
        "root": chatgpt_node("root", None, ["system"]),
        "system": chatgpt_node("system", "root", [], "system"),
    }
    parent = "system"
    for number, line in enumerate(talk):
        role = "user" if line.is_person else "assistant"
        for other, text in enumerate((*line.others, line.text)):
            key = f"{number}-{other}"
            nodes[key] = chatgpt_node(key, parent, [], role, text, time(moment(number)))
            nodes[parent]["children"].append(key)
        parent = key
    return {
        "title": "The lighthouse",
        "create_time": BEGIN.timestamp(),
        "update_time": BEGIN.timestamp(),
        "mapping": nodes,
        "moderation_results": [],
        "current_node": parent,
        "conversation_id": "67a1-chat",
        "id": "67a1-chat",
    }


def deepseek_node(key: str, parent: str | None, children: Sequence[str], message: Raw | None = None) -> Raw:
    return {"id": key, "parent": parent, "children": list(children), "message": message}


def deepseek(
    talk: Sequence[Line] = TALK,
    time: Callable[[datetime], object] = datetime.isoformat,
    *,
    older: bool = False,
) -> Raw:
    """One conversation: a root without a message, and the talk with its other answers, oldest first."""
    nodes = {"root": deepseek_node("root", None, [])}
    parent = "root"
    for number, line in enumerate(talk):
        for other, text in enumerate((*line.others, line.text)):
            key = f"{number}-{other}"
            at = time(moment(number))
            if older:
                message = {"files": [], "search_results": None, "model": "deepseek-chat", "inserted_at": at}
                message |= {"reasoning_content": None, "content": text}
            else:
                kind = "REQUEST" if line.is_person else "RESPONSE"
                message = {"files": [], "model": "deepseek-chat", "inserted_at": at}
                message |= {"fragments": [{"type": kind, "content": text}]}
            nodes[key] = deepseek_node(key, parent, [], message)
            nodes[parent]["children"].append(key)
        parent = key
    at = time(BEGIN)
    return {
        "id": "5b0c-chat",
        "title": "The lighthouse",
        "inserted_at": at,
        "updated_at": at,
        "mapping": nodes,
    }


def claude_message(uuid: str, sender: str, text: str, at: object, **more: Any) -> Raw:
    message = {
        "uuid": uuid,
        "text": text,
        "content": [{"start_timestamp": at, "type": "text", "text": text, "citations": []}],
        "sender": sender,
        "created_at": at,
        "updated_at": at,
        "attachments": [],
        "files": [],
    }
    return {**message, **more}


def claude(
    talk: Sequence[Line] = TALK, time: Callable[[datetime], object] = TIMES["ISO"], **more: Any
) -> Raw:
    """One conversation; its messages name the one that they follow only if the talk has alternatives."""
    messages = []
    parent, is_tree = "00000000-0000-4000-8000-000000000000", any(line.others for line in talk)
    for number, line in enumerate(talk):
        sender = "human" if line.is_person else "assistant"
        for other, text in enumerate((*line.others, line.text)):
            key = f"{number}-{other}"
            follows = {"parent_message_uuid": parent} if is_tree else {}
            messages.append(claude_message(key, sender, text, time(moment(number)), **follows))
        parent = key
    return {
        "uuid": "90e1-chat",
        "name": "The lighthouse",
        "summary": "",
        "created_at": time(BEGIN),
        "updated_at": time(BEGIN),
        "account": {"uuid": "x"},
        "chat_messages": messages,
        **more,
    }


def role(line: Line) -> str:
    return "user" if line.is_person else "assistant"


def cai_history(talk: Sequence[Line] = TALK, *, first: bool = True) -> Raw:
    """A history as CAI Tools dumps it; `first`: whether the message that was chosen stands before the others."""
    created = moment(0).astimezone(UTC).isoformat()
    messages = []
    for number, line in enumerate(talk):
        texts = [(line.text, False), *((other, True) for other in line.others)]
        for other, (text, is_alternative) in enumerate(texts if first else reversed(texts)):
            messages.append(
                {
                    "id": 1000 * (number + 1) + other,
                    "created": created,
                    "display_name": line.speaker,
                    "is_alternative": is_alternative,
                    "image_rel_path": "",
                    "text": text,
                    "src": {
                        "is_human": line.is_person,
                        "name": line.speaker,
                        "user": {"username": "x", "account": None},
                    },
                    "tgt": {"is_human": not line.is_person, "name": "y"},
                }
            )
    last = moment(len(talk) - 1).astimezone(UTC).isoformat()
    return {"external_id": "cai-1", "created": created, "last_interaction": last, "msgs": messages}


def cai_raw(talk: Sequence[Line] = TALK) -> list[Raw]:
    return [
        {
            "uuid": f"{number}-{other}",
            "id": None,
            "text": text,
            "src__name": line.speaker,
            "src__is_human": line.is_person,
            "src__user__username": "x",
            "is_alternative": other > 0,
        }
        for number, line in enumerate(talk)
        for other, text in enumerate((line.text, *line.others))
    ]


def cai_turns(talk: Sequence[Line] = TALK, *, newest_first: bool = True) -> list[Raw]:
    turns = [
        {
            "turn_key": {"chat_id": "chat-2", "turn_id": f"turn-{number}"},
            "create_time": TIMES["ISO"](moment(number)),
            "state": "STATE_OK",
            "author": {"author_id": "1", "name": line.speaker}
            | ({"is_human": True} if line.is_person else {}),
            "candidates": [
                {
                    "candidate_id": f"{number}-{other}",
                    "create_time": TIMES["ISO"](moment(number)),
                    "raw_content": text,
                    "is_final": True,
                }
                for other, text in enumerate((*line.others, line.text))
            ],
            "primary_candidate_id": f"{number}-{len(line.others)}",
        }
        for number, line in enumerate(talk)
    ]
    return turns[::-1] if newest_first else turns


def risu_chat(talk: Sequence[Line] = PLAIN) -> Raw:
    return {
        "message": [
            {
                "role": "user" if line.is_person else "char",
                "data": line.text,
                "name": line.speaker,
                "time": TIMES["milliseconds"](moment(number)),
                "chatId": f"9f-{number}",
                "generationInfo": {"model": "x"},
            }
            for number, line in enumerate(talk)
        ],
        "note": "",
        "name": "Chat 1",
        "localLore": [],
        "fmIndex": -1,
        "id": "risu-1",
    }


def text_of(
    template: str,
    talk: Sequence[Line] = PLAIN,
    time: Callable[[datetime], str] = TEXT_TIMES["2024-02-27 22:40"],
) -> str:
    return "\n".join(
        template.replace("{date}", time(moment(number)))
        .replace("{name}", line.speaker)
        .replace("{text}", line.text)
        for number, line in enumerate(talk)
    )


class Case(NamedTuple):
    """A file, and what is to be read of it."""

    form: str
    make: Callable[[], bytes]
    found: Paths
    pasts: int = 1
    pattern: TextPattern | None = None


CHATGPT_PATHS = expected(TALK, names=role)
RISU_PATHS = expected(PLAIN)
CAI_PATHS = expected(TALK, has_times=lambda number: number in {0, len(TALK) - 1})
# The first and the last turn of such a history have its own times; those of alternatives are not known.
for path in [path for path in CAI_PATHS if path[-1] in TALK[0].others]:
    CAI_PATHS[path] = (*CAI_PATHS[path][:2], None)


def sillytavern_cases() -> Iterator[tuple[str, Case]]:
    found = expected(TALK)
    for name, time in TIMES.items():
        yield (
            f"SillyTavern, {name}",
            Case("sillytavern", lambda time=time: jsonl(sillytavern_lines(time=time)), found),  # type: ignore[misc]
        )
    headers: dict[str, Raw] = {
        "of names unused": {
            "user_name": "unused",
            "character_name": "unused",
            "chat_metadata": {"integrity": "x"},
        },
        "of a group, old": {},
        "of a group": {"is_group_chat_header": True, "chat_metadata": {}},
        "of little": {"user_name": "You", "character_name": "Mara"},
        "of metadata alone": {"chat_metadata": {}},
    }
    for name, header in headers.items():
        yield (
            f"SillyTavern {name}",
            Case("sillytavern", lambda header=header: jsonl(sillytavern_lines(header=header)), found),  # type: ignore[misc]
        )
    lines = sillytavern_lines()
    files: dict[str, Callable[[], bytes]] = {
        "with a mark": lambda: b"\xef\xbb\xbf" + jsonl(lines),
        "of Windows' lines": lambda: jsonl(lines, "\r\n") + b"\r\n\r\n",
        "in UTF-16": lambda: jsonl(lines).decode().encode("utf-16"),
        "escaped": lambda: b"\n".join(json.dumps(line).encode() for line in lines),
        "as one list": lambda: escaped(lines),
        "cut within its last line": lambda: jsonl(lines) + b'\n{"name": "Mara", "mes": "I w',
    }
    for name, make in files.items():
        yield f"SillyTavern {name}", Case("sillytavern", make, found)
    edited = [{**line, "swipe_id": 7} if "swipes" in line else line for line in lines]
    yield "SillyTavern with a lost swipe", Case("sillytavern", lambda: jsonl(edited), found)
    before = [
        {**line, "swipes": [line["swipes"][0], "As it was.", *line["swipes"][2:]]}
        if "swipes" in line
        else line
        for line in lines
    ]
    yield "SillyTavern with an edited answer", Case("sillytavern", lambda: jsonl(before), found)
    yield (
        "SillyTavern, two chats in one file",
        Case("sillytavern", lambda: jsonl(lines + lines), found, pasts=2),
    )
    yield (
        "SillyTavern's folder",
        Case(
            "sillytavern",
            lambda: zipped(
                {
                    "chats/Mara/1.jsonl": jsonl(lines),
                    "chats/Mara/2.jsonl": jsonl(lines),
                    "settings.json": b"{}",
                }
            ),
            found,
            pasts=2,
        ),
    )


def chatgpt_cases() -> Iterator[tuple[str, Case]]:
    for name in ("seconds", "milliseconds", "ISO", "microseconds"):
        yield (
            f"ChatGPT, {name}",
            Case("chatgpt", lambda name=name: dumped([chatgpt(time=TIMES[name])]), CHATGPT_PATHS),  # type: ignore[misc]
        )
    one = chatgpt()
    backwards = {**one, "mapping": dict(reversed(one["mapping"].items()))}
    no_children = {**one, "mapping": {key: {**node, "children": []} for key, node in one["mapping"].items()}}
    no_parents = {**one, "mapping": {key: {**node, "parent": None} for key, node in one["mapping"].items()}}
    files: dict[str, tuple[Callable[[], bytes], int]] = {
        "conversation alone": (lambda: dumped(one), 1),
        "indented": (lambda: escaped([one]), 1),
        "many": (lambda: dumped([one] * 5), 5),
        "under a key": (lambda: dumped({"conversations": [one, one]}), 2),
        "with empty ones": (
            lambda: dumped([{"title": "x", "mapping": {}}, one, {"mapping": {"a": None}}]),
            1,
        ),
        "nodes in no order": (lambda: dumped([backwards]), 1),
        "without parents": (lambda: dumped([no_parents]), 1),
        "without children": (lambda: dumped([no_children]), 1),
        "without a current one": (lambda: dumped([{**one, "current_node": None}]), 1),
        "with a current one that is not there": (lambda: dumped([{**one, "current_node": "gone"}]), 1),
        "ZIP": (lambda: zipped({"conversations.json": dumped([one]), "chat.html": b"<html>"}), 1),
        "ZIP in parts": (
            lambda: zipped({f"x/conversations-00{n}.json": dumped([one]) for n in range(3)}),
            3,
        ),
        "ZIP with pictures": (
            lambda: zipped(
                {f"file-{n}.png": b"x" for n in range(300)} | {"conversations.json": escaped([one])}
            ),
            1,
        ),
    }
    for name, (make, pasts) in files.items():
        yield f"ChatGPT {name}", Case("chatgpt", make, CHATGPT_PATHS, pasts)


def deepseek_cases() -> Iterator[tuple[str, Case]]:
    one = deepseek()
    # Who speaks in an older one is known only from the order.
    pair = [line._replace(is_person=number % 2 == 0) for number, line in enumerate(TALK)]
    older = deepseek(pair, older=True)
    roles = deepseek(older=True)
    for node in roles["mapping"].values():
        if node["message"]:
            text = node["message"]["content"]
            is_person = any(line.is_person and text == line.text for line in TALK)
            node["message"]["role"] = "USER" if is_person else "ASSISTANT"
    files: dict[str, tuple[Callable[[], bytes], Paths, int]] = {
        "list": (lambda: dumped([one, one]), CHATGPT_PATHS, 2),
        "conversation alone": (lambda: escaped(one), CHATGPT_PATHS, 1),
        "with empty ones": (
            lambda: dumped([{"inserted_at": "x", "mapping": {"root": None}}, one]),
            CHATGPT_PATHS,
            1,
        ),
        "ZIP": (
            lambda: zipped({"user.json": b'{"user_id": "x"}', "conversations.json": dumped([one])}),
            CHATGPT_PATHS,
            1,
        ),
        "by a key": (lambda: dumped({"conversations": [one, one]}), CHATGPT_PATHS, 2),
        "older": (lambda: dumped([older]), expected(pair, names=role), 1),
        "older with roles": (lambda: dumped([roles]), CHATGPT_PATHS, 1),
    }
    for name, (make, found, pasts) in files.items():
        yield f"DeepSeek {name}", Case("deepseek", make, found, pasts)


def claude_cases() -> Iterator[tuple[str, Case]]:
    one, plain = claude(), claude(PLAIN)
    plain_paths = expected(PLAIN, names=role)
    older = {**plain, "chat_messages": [{**message, "content": []} for message in plain["chat_messages"]]}
    files: dict[str, tuple[Callable[[], bytes], Paths, int]] = {
        "list": (lambda: dumped([plain, plain]), plain_paths, 2),
        "by a key": (lambda: dumped({"conversations": [plain, plain]}), plain_paths, 2),
        "by a key, with a long summary": (
            lambda: dumped({"conversations": [{**plain, "summary": "x" * 5000}]}),
            plain_paths,
            1,
        ),
        "older": (lambda: dumped([older]), plain_paths, 1),
        "conversation alone": (lambda: escaped(plain), plain_paths, 1),
        "with alternatives": (lambda: dumped([one]), CHATGPT_PATHS, 1),
        "with a current one": (lambda: dumped([claude(current_leaf_message_uuid="4-0")]), CHATGPT_PATHS, 1),
        "with empty ones": (lambda: dumped([{**plain, "chat_messages": []}, plain]), plain_paths, 1),
        "ZIP": (
            lambda: zipped(
                {"users.json": b"[]", "projects.json": b"[]", "conversations.json": dumped([one])}
            ),
            CHATGPT_PATHS,
            1,
        ),
    }
    for name, (make, found, pasts) in files.items():
        yield f"Claude {name}", Case("claude", make, found, pasts)


def character_ai_cases() -> Iterator[tuple[str, Case]]:
    histories = {"histories": [cai_history(), cai_history()]}
    untimed = expected(TALK, has_times=False)
    files: dict[str, tuple[Callable[[], bytes], Paths, int]] = {
        "histories": (lambda: dumped(histories), CAI_PATHS, 2),
        "histories with the character": (
            lambda: dumped({"info": {"character": {"name": "Mara"}}, "histories": histories}),
            CAI_PATHS,
            2,
        ),
        "others first": (lambda: dumped({"histories": [cai_history(first=False)]}), CAI_PATHS, 1),
        "one history": (lambda: escaped(cai_history()), CAI_PATHS, 1),
        "messages": (lambda: dumped(cai_raw()), untimed, 1),
        "a page of messages": (lambda: dumped({"messages": cai_raw(), "has_more": False}), untimed, 1),
        "turns": (lambda: dumped({"turns": cai_turns(), "meta": {"next_token": ""}}), expected(TALK), 1),
        "turns, oldest first": (lambda: dumped(cai_turns(newest_first=False)), expected(TALK), 1),
        "chats of turns": (
            lambda: dumped({"chats": [{"chat": {"chat_id": "1"}, "turns": cai_turns()}] * 2, "turns": None}),
            expected(TALK),
            2,
        ),
    }
    for name, (make, found, pasts) in files.items():
        yield f"Character.AI {name}", Case("character_ai", make, found, pasts)


def risuai_cases() -> Iterator[tuple[str, Case]]:
    chat = risu_chat()
    files: dict[str, tuple[Callable[[], bytes], int]] = {
        "chat": (lambda: dumped({"type": "risuChat", "ver": 2, "data": chat, "folders": []}), 1),
        "chat of version 1": (lambda: escaped({"type": "risuChat", "ver": 1, "data": chat}), 1),
        "all chats": (lambda: dumped({"type": "risuAllChats", "ver": 2, "data": [chat] * 3}), 3),
        "package": (
            lambda: zipped(
                {
                    "manifest.json": dumped({"type": "risuCharacterPackage"}),
                    "chats/chats.json": dumped({"type": "risuAllChats", "ver": 2, "data": [chat, chat]}),
                }
            ),
            2,
        ),
    }
    for name, (make, pasts) in files.items():
        yield f"RisuAI {name}", Case("risuai", make, RISU_PATHS, pasts)


KOBOLD_SETTINGS = {"opmode": 3, "chatname": "Ann Lee", "chatopponent": "Mara||$||Keeper"}


def kobold(pieces: Sequence[str], **settings: Any) -> Raw:
    """A story as KoboldAI Lite saves it."""
    return {
        "gamestarted": True,
        "prompt": pieces[0],
        "memory": "Mara keeps the lighthouse.",
        "authorsnote": "",
        "actions": list(pieces[1:]),
        "actions_metadata": {},
        "worldinfo": [],
        "savedsettings": {**KOBOLD_SETTINGS, **settings},
    }


def kobold_stamp(number: int) -> str:
    at = moment(number)
    return f"[{at.month}/{at.day}/{at.year}, {at.hour % 12 or 12}:{at:%M}\u202f{at:%p}] "


def koboldai_cases() -> Iterator[tuple[str, Case]]:
    untimed = expected(PLAIN, has_times=False)
    marks = {True: "\n{{[INPUT]}}\n", False: "\n{{[OUTPUT]}}\n"}
    own = {True: "\n### Instruction:\n", False: "\n### Response:\n"}
    tags = {"instruct_starttag": "\\n### Instruction:\\n", "instruct_endtag": "\\n### Response:\\n"}
    files: dict[str, tuple[Raw, Paths]] = {
        "chat": (kobold([f"\n{line.speaker}: {line.text}" for line in PLAIN]), untimed),
        "chat in pieces of a line": (
            kobold([*"".join(f"\n{line.speaker}: {line.text}" for line in PLAIN)]),
            untimed,
        ),
        "chat with times": (
            kobold(
                [
                    f"\n{line.speaker}: {kobold_stamp(place) if line.is_person else ''}{line.text}"
                    for place, line in enumerate(PLAIN)
                ]
            ),
            expected(PLAIN, has_times=lambda number: PLAIN[number].is_person),
        ),
        "instructions": (
            kobold([f"{marks[line.is_person]}{line.speaker}: {line.text}" for line in PLAIN], opmode="4"),
            untimed,
        ),
        "instructions with a model's own marks": (
            kobold([f"{own[line.is_person]}{line.speaker}: {line.text}" for line in PLAIN], opmode=4, **tags),
            untimed,
        ),
    }
    for name, (story, found) in files.items():
        yield f"KoboldAI Lite {name}", Case("koboldai", lambda story=story: dumped(story), found)  # type: ignore[misc]


def webui(talk: Sequence[Line] = TALK) -> Raw:
    """A history of text-generation-webui: a greeting, then pairs."""
    said = ["<|BEGIN-VISIBLE-CHAT|>", *(line.text for line in talk)]
    pairs = [said[place : place + 2] for place in range(0, len(said), 2)]
    metadata: Raw = {}
    for place, line in enumerate(talk, 1):
        at = f"{moment(place - 1):%b %d, %Y %H:%M}"
        told: Raw = {"timestamp": at}
        if line.others:
            texts = [*line.others, line.text]
            told["versions"] = [{"content": text, "visible_content": text, "timestamp": at} for text in texts]
            told["current_version_index"] = len(line.others)
        metadata[f"{'user' if line.is_person else 'assistant'}_{place // 2}"] = told
    visible = [["" if "<|" in first else html.escape(first), html.escape(then)] for first, then in pairs]
    return {"internal": pairs, "visible": visible, "metadata": metadata}


def oobabooga_cases() -> Iterator[tuple[str, Case]]:
    def name(line: Line) -> str:
        return "user" if line.is_person else "assistant"

    history = webui()
    untimed = expected(PLAIN, has_times=False, names=name)
    files: dict[str, tuple[Raw, Paths]] = {
        "history": (history, expected(TALK, names=name)),
        "history without metadata": ({key: history[key] for key in ("internal", "visible")}, untimed),
        "history of the old API": (
            {"data": history["internal"], "data_visible": history["visible"]},
            untimed,
        ),
        "history of what is shown": ({"data": [], "data_visible": history["visible"]}, untimed),
    }
    for title, (told, found) in files.items():
        yield (
            f"text-generation-webui {title}",
            Case("oobabooga", lambda told=told: escaped(told), found),  # type: ignore[misc]
        )


def text_cases() -> Iterator[tuple[str, Case]]:
    # The file does not tell who is the person: the first who speaks is taken for it.
    talk = [line._replace(is_person=line.speaker == "Mara") for line in PLAIN]
    timed, untimed = expected(talk), expected(talk, has_times=False)
    templates = (
        "[{date}] {name}: {text}",
        "{date} - {name}: {text}",
        "{date} {name}: {text}",
        "[{date}] <{name}> {text}",
        "{name} [{date}]: {text}",
        "{name} ({date}): {text}",
    )
    for template in templates:
        yield template, Case("text", lambda template=template: text_of(template).encode(), timed)  # type: ignore[misc]
    for name, time in TEXT_TIMES.items():
        for template in templates[:2]:
            yield (
                f"{template} with {name}",
                Case(
                    "text",
                    lambda template=template, time=time: text_of(template, time=time).encode(),  # type: ignore[misc]
                    timed,
                ),
            )
    for template in ("<{name}> {text}", "--{name}\n{text}"):
        yield template, Case("text", lambda template=template: text_of(template).encode(), untimed)  # type: ignore[misc]
    two = [
        line._replace(speaker=line.speaker.replace("Keeper", "Mara"), is_person=not line.is_person)
        for line in PLAIN
    ]
    for template in ("{name}: {text}", "{name}：{text}"):
        yield (
            template,
            Case(
                "text",
                lambda template=template: text_of(template, two).encode(),  # type: ignore[misc]
                expected(two, has_times=False),
            ),
        )
    marked = "\u200e[{date}] {name}: {text}"
    day_first = TEXT_TIMES["27.02.24, 22:40:00"]
    yield "marks of direction", Case("text", lambda: text_of(marked, time=day_first).encode(), timed)
    yield (
        "Windows' lines and a mark",
        Case("text", lambda: b"\xef\xbb\xbf" + text_of(templates[0]).replace("\n", "\r\n").encode(), timed),
    )
    yield "text in UTF-16", Case("text", lambda: text_of(templates[0]).encode("utf-16"), timed)
    yield (
        "WhatsApp's ZIP",
        Case("text", lambda: zipped({"WhatsApp Chat with Mara.txt": text_of(templates[1]).encode()}), timed),
    )
    for own in ("{date}|{name}|{text}", "{name} @ {date} >> {text}", "{date} {name}\\n{text}"):
        template = own.replace("\\n", "\n")
        yield (
            f"one's own pattern {own}",
            Case(
                "text",
                lambda template=template: text_of(template).encode(),  # type: ignore[misc]
                timed,
                pattern=TextPattern(template=own),
            ),
        )


CORPUS: dict[str, Case] = dict(
    case
    for cases in (
        sillytavern_cases(),
        chatgpt_cases(),
        deepseek_cases(),
        claude_cases(),
        character_ai_cases(),
        risuai_cases(),
        koboldai_cases(),
        oobabooga_cases(),
        text_cases(),
    )
    for case in cases
)
