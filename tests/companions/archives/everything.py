"""A companion that has something in every table that travels, and branches with a journal."""

import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from zipfile import ZipFile

from PIL import Image

from accounts.models import User
from companions.branches.operations import choose, fork, say_anew
from companions.life.inner_state import CALM
from companions.life.inner_state import revise as revise_state
from companions.life.timers import timers
from companions.lore.editing import make_book, read_book
from companions.models import (
    Attachment,
    Bookmark,
    Branch,
    Card,
    Companion,
    ForgetProposal,
    InnerState,
    LoreFiring,
    Message,
    Mind,
    Picture,
    Portrait,
    Reply,
    Waking,
)
from companions.replies.checkpoint import Said
from companions.replies.finish import finish
from companions.replies.lifecycle import Start, process_name, start
from companions.replies.lifecycle import claim as claim_reply
from files.contents import store_content, store_picture
from files.models import StoredFile
from files.pictures import Drawn
from memory.core_memory import set_slot, write_block
from memory.learning.diary import ClosedSession, Written, keep_entry
from memory.learning.revisions import add_revision
from memory.models import (
    Change,
    Consolidation,
    Document,
    Forgotten,
    Learning,
    Memory,
    Page,
    Pursuit,
    Recall,
    Recalled,
    Retraction,
    Revision,
    Thread,
)
from memory.models.core_memory import By
from memory.store import correct, keep_fact, retract
from providers.sound import Sound, encode_mp3, encode_wav
from tests.fixtures.turns import make_companion
from voice.models import Recording, Voice

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


def webp() -> bytes:
    """A picture as Kith keeps it."""
    written = io.BytesIO()
    Image.new("RGB", (8, 6), "teal").save(written, "WEBP")
    return written.getvalue()


def sound() -> Sound:
    import numpy as np

    wave = (np.sin(np.arange(8000) / 8) * 9000).astype(np.int16)
    return Sound(wave, 16_000)


def talk(companion: Companion, text: str, now: datetime, begin: Start = start, **said: Any) -> Message:
    """Say something, and have it answered; return the answer."""
    started = begin(companion, text, None, now, at_once=False)
    claim_reply(started.reply.pk, now)
    state = Reply.State.DONE
    ended = finish(started.reply, state, Said(text=f"About {text}", **said), now, held_by=process_name())
    assert ended
    assert ended.answer
    return ended.answer


def live_fully(user: User, now: datetime = NOON) -> Companion:
    """Return the companion; each step of its talk is a minute after the one before."""
    companion = make_companion(user, greeting="Hello, {{user}}.", name="Mira")
    companion.persona += " She keeps bees."
    companion.save(update_fields=["persona"], changed_by="page", now=NOON)
    minute = iter(range(1, 1000))

    def later() -> datetime:
        return now + timedelta(minutes=next(minute))

    call = {"id": "c1", "name": "recall", "arguments": '{"cue": "tea"}', "result": {"remembered": ["tea"]}}
    first = talk(companion, "tea with <b>milk</b>", later(), tool_calls=[call], thought="Tea, then.")
    asked = Message.objects.get(pk=first.parent_id)
    fact = keep_fact(companion.pk, "Alice drinks tea.", later(), now, source_ids=[asked.pk])
    Memory.objects.filter(pk=fact.pk).update(quotes=[{"message": str(asked.pk), "text": "tea"}], tags=["tea"])
    set_slot(companion.pk, "drink", "tea", by=By.COMPANION, now=now, source_ids=[asked.pk])
    block = write_block(companion.pk, "habits", "Tea at five.", by=By.COMPANION, now=now)
    block.sources.add(asked)
    timers.set_timer(companion, "1d", "Ask about tea.", by="companion", now=later(), is_asked_for=True)
    second = talk(companion, "coffee", later())
    other = keep_fact(companion.pk, "Alice drinks coffee.", later(), now, source_ids=[second.pk])
    retract(fact, later(), replaced_by=other)
    grow(companion, second, other, later())
    # Another branch from the first answer, with a mind of its own.
    fork(companion, first.pk, later(), "without coffee")
    talk(companion, "cocoa", later())
    set_slot(companion.pk, "drink", "cocoa", by=By.COMPANION, now=later())
    keep_fact(companion.pk, "Alice drinks cocoa.", later(), now)
    correct(Memory.objects.get(pk=fact.pk), "Alice drinks green tea.", later())
    talk(companion, "cocoa, again", later(), say_anew(Message.objects.get(text="cocoa")))
    choose(Branch.objects.get(head__text="About coffee"), later())
    furnish(companion, asked, first, other, now)
    timers.move_timers(companion.pk, now)  # those that everybody has are due as of today
    return companion


def grow(companion: Companion, message: Message, fact: Memory, now: datetime) -> None:
    """What comes of talks: written down, felt, pursued, done by night; all of it known on one branch."""
    sentences = [{"text": "We spoke of coffee.", "sources": [str(message.pk)]}]
    add_revision(companion.pk, Revision.About.USER_PROFILE, sentences, Revision.By.CLOSING, now)
    revise_state(companion.pk, "Awake.", CALM, by=InnerState.By.REFLECTION, now=now)
    InnerState.objects.filter(companion=companion).update(seen=[message.pk])
    written = Written(
        title="Coffee",
        diary=sentences,
        emotion="happy",
        intensity=0.5,
        self_concept=[],
        user_profile=[],
        call_id=None,
    )
    closed = ClosedSession(
        session_id=message.session_id, started_at=message.said_at, ended_at=now, written=written
    )
    keep_entry(companion.pk, closed, now, companion.user.zone)
    Pursuit.objects.create(companion=companion, memory=fact, progress=40, moved_at=now)
    Thread.objects.create(companion=companion, memory=fact, opened_at=now, settled_by=None)
    Retraction.objects.create(companion=companion, memory=fact, slot="drink", made_at=now)
    night = Consolidation.objects.create(
        companion=companion, night_of=now.date(), asked_at=now, next_at=now, state="done"
    )
    change = Change.objects.create(
        companion=companion,
        consolidation=night,
        number=1,
        kind="insight",
        memory=fact,
        before={"sources": [str(message.pk)], "evidence": 1},
    )
    change.others.add(Memory.objects.get(message=message))
    fact.drawn_from.add(Memory.objects.get(message=message))


def furnish(companion: Companion, asked: Message, answer: Message, fact: Memory, now: datetime) -> None:
    """All that follows no branch: what it looks and sounds like, was given, and did by itself."""
    common = {"companion": companion, "created_at": now}
    book = make_book(
        companion.user,
        read_book(
            {"name": "Drinks", "entries": [{"keys": ["tea"], "content": "Tea is hot.", "extensions": {}}]}
        ),
        now,
        companion=companion,
    )
    entry = book.entries.get()
    LoreFiring.objects.create(companion=companion, entry=entry, message=asked)
    placed = {"entry": f"0:{entry.pk}", "book": str(book.pk), "name": "Tea", "place": "after_desc"}
    placed |= {"depth": None, "reason": {"code": "constant", "key": "", "entry": ""}}
    Reply.objects.filter(answer=answer).update(
        emotions=[{"at": 0, "emotion": "happy", "intensity": 0.5}],
        lore={"placed": [placed], "dropped": []},
        model="qwen3:8b",
        is_in_call=True,
    )
    reply = Reply.objects.get(answer=answer)
    recall = Recall.objects.create(
        companion=companion, reply=reply, by="turn", cue="tea", at=now, milliseconds=4
    )
    Recalled.objects.create(recall=recall, memory=fact, rank=1, score=0.5, reasons={"likeness": 0.7})
    Mind.objects.create(companion=companion, model="qwen3:8b", sampling={"temperature": 0.9})
    Portrait.objects.create(companion=companion, seed=7, chosen={"hair": "bob"})
    verdicts = [{"verdict": "add", "kind": "fact", "memory": str(fact.pk), "of": None, "outcome": "added"}]
    Learning.objects.create(companion=companion, session=asked.session, messages=2, at=now, verdicts=verdicts)
    ForgetProposal.objects.create(
        companion=companion, reply=reply, subject="tea", near=[fact.pk], state="declined", made_at=now
    )
    Forgotten.objects.create(companion=companion, salt=b"sixteen bytes...", statements=[["00ff"]], at=now)
    document = Document.objects.create(companion=companion, title="On tea", characters=9, given_at=now)
    gist = keep_fact(companion.pk, "It is about tea.", now, now)
    Memory.objects.filter(pk=gist.pk).update(kind=Memory.Kind.GIST)
    Page.objects.create(
        companion=companion, document=document, number=1, text="Tea grows.", gist="About tea.", memory=gist
    )
    Bookmark.objects.create(companion=companion, message=asked, made_at=now)
    timer = timers.set_timer(companion, "2h", "Drink tea.", by="user", now=now, is_asked_for=True)
    step = {"round": 1, "id": "c1", "name": "think", "arguments": r'"{\"text\": \"Tea.\"}"', "result": {}}
    waking = Waking.objects.create(
        timer=timer,
        origin="timer",
        due_at=now,
        state="done",
        outcome="spoke",
        about=fact,
        steps=[step],
        shown=[asked.pk, fact.pk],
        prompt=[{"role": "system", "content": "as it was sent"}],
        **common,
    )
    Message.objects.filter(pk=answer.pk).update(waking=waking)

    def store(content: bytes, kind: StoredFile.Kind, content_type: str) -> StoredFile:
        return store_content(companion.user, content, kind, content_type, now, companion=companion)

    kinds = StoredFile.Kind
    drawn = Drawn(webp(), 8, 6)
    face, sent = (
        store_picture(companion.user, drawn, kind, now, companion=companion)
        for kind in (kinds.PICTURE, kinds.ATTACHMENT)
    )
    Picture.objects.create(companion=companion, file=face)
    Attachment.objects.create(message=asked, file=sent, name="tea.png", **common)
    recorded = store(encode_mp3(sound(), {}), kinds.RECORDING, "audio/mpeg")
    Recording.objects.create(message=asked, file=recorded, heard="tea", seconds=0.5, **common)
    reference = store(encode_wav(sound()), kinds.REFERENCE, "audio/wav")
    Voice.objects.update_or_create(
        companion=companion, defaults={"reference": reference, "consent": "Yes.", "consented_at": now}
    )
    packed = io.BytesIO()
    with ZipFile(packed, "w") as archive:
        asset = {"type": "icon", "name": "main", "ext": "png", "uri": "embeded://main.png"}
        archive.writestr("assets.json", json.dumps([asset]))
        archive.writestr("0", b"\x89PNG")
    assets = store(packed.getvalue(), kinds.CARD, "application/zip")
    Card.objects.create(content={"data": {"creator": "Ann", "big": 10**30}}, assets=assets, **common)
