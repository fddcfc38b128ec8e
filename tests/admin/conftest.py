"""Alice's companion with one whole turn, every word of which holds MARKER; Olive in two ranks; her browser."""

from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from accounts.models import Invitation, ModelCall, SoundCall, Token, User
from accounts.signup import create_account
from cards.schema import normalise
from companions.conversations.messages import open_session, say
from companions.creation import create
from companions.gallery.decisions import COPIED
from companions.models import (
    ArchiveUpload,
    Attachment,
    Bookmark,
    Branch,
    Card,
    CardUpload,
    CharacterVersion,
    Closing,
    Companion,
    ComparedExchange,
    Comparison,
    Delivery,
    ForgetProposal,
    GalleryCharacter,
    GalleryReport,
    GalleryVersion,
    Job,
    Lorebook,
    LoreEntry,
    LoreFiring,
    Message,
    Mind,
    PastImport,
    PastUpload,
    Picture,
    Portrait,
    Prompt,
    Reply,
    ReportedVersion,
    Session,
    Timer,
    Waking,
)
from files.models import StoredFile
from integrations.push.models import Subscription
from memory.core_memory import set_slot, write_block
from memory.models import (
    Change,
    Consolidation,
    DiaryEntry,
    Document,
    Embedding,
    Forgotten,
    Learning,
    Memory,
    Page,
    Pursuit,
    Recall,
    Recalled,
    Retraction,
    Revision,
    Space,
    Thread,
)
from memory.models.core_memory import By
from memory.store import keep_fact
from safety import notices
from safety.models import OperatorAccess
from tests.admin.walk import MARKER
from tests.fixtures.people import PASSWORD, make_alice, sign_in
from voice.models import Recording, Speech, Spoken, Voice

WHY = "She asked why it failed."
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


@dataclass
class Scene:
    companion: Companion
    message: Message
    reply: Reply
    fact: Memory
    recall: Recall
    call: ModelCall


def sent(round: int, text: str) -> list[dict[str, object]]:
    """The prompt of the first or second round."""
    lines: list[dict[str, object]] = [
        {"role": "system", "content": f"You are {MARKER}."},
        {"role": "user", "content": text},
    ]
    function = {"name": "recall", "arguments": f'{{"cue": "{MARKER} again"}}'}
    asked = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
    }
    given = {"role": "tool", "tool_call_id": "c1", "content": f'{{"remembered": ["{MARKER}"]}}'}
    return lines if round == 1 else [*lines, asked, given]


def ask(
    companion: Companion, text: str, at: datetime, role: str = "user", parent: Message | None = None
) -> Message:
    conversation = companion.conversation
    return say(
        Message(
            companion=companion,
            conversation=conversation,
            session=open_session(conversation, at),
            parent=parent,
            role=role,
            author=MARKER,
            text=text,
            said_at=at,
        ),
        at,
    )


def answer(companion: Companion, message: Message, found: Memory) -> tuple[Reply, Recall, ModelCall]:
    """A reply that is done, in two rounds with a tool between, as a turn records it."""
    reply = Reply.objects.create(
        companion=companion,
        message=message,
        answer=ask(companion, f"You like {MARKER}.", NOON, "assistant", message),
        state=Reply.State.DONE,
        text=f"You like {MARKER}.",
        thought=f"Thinking of {MARKER}.",
        emotions=[{"at": 0, "emotion": "curious", "intensity": 0.4}],
        tool_calls=[
            {
                "id": "c1",
                "name": "recall",
                "arguments": f'{{"cue": "{MARKER} again"}}',
                "result": {"remembered": [MARKER]},
                "milliseconds": 12,
            }
        ],
        template="turn-1",
        created_at=NOON,
        started_at=NOON + timedelta(milliseconds=40),
        first_piece_at=NOON + timedelta(milliseconds=740),
        ended_at=NOON + timedelta(milliseconds=2240),
    )
    for round in (1, 2):
        Prompt.objects.create(
            companion=companion,
            reply=reply,
            round=round,
            messages=sent(round, message.text),
            tools=[{"type": "function", "function": {"name": "recall"}}],
            shown=[message.pk, found.pk],
            created_at=NOON,
        )
        call = ModelCall.objects.create(
            user=companion.user,
            companion=companion,
            reply=reply,
            purpose="answer",
            provider="http://127.0.0.1:9",
            model="rehearsal",
            outcome="done",
            prompt_tokens=100 * round,
            completion_tokens=7,
            cached_tokens=50,
            first_piece_milliseconds=321,
            milliseconds=800,
            said=f"Quoting {MARKER}",
            started_at=NOON,
        )
    recall = Recall.objects.create(
        companion=companion, reply=reply, by="turn", cue=message.text, at=NOON, milliseconds=9
    )
    Recalled.objects.create(
        recall=recall, memory=found, rank=1, score=0.8125, reasons={"likeness": 0.71, "matched": [MARKER]}
    )
    return reply, recall, call


def grow(companion: Companion, message: Message, fact: Memory) -> None:
    """One of each that comes of talks: written, kept in mind, given to read, done by night."""
    sentences = [{"text": f"We spoke of the {MARKER}.", "sources": [str(message.pk)]}]
    session = message.session
    Session.objects.filter(pk=session.pk).update(title=MARKER, summary=MARKER, scratch=MARKER)
    Closing.objects.create(
        companion=companion,
        session=session,
        until_at=NOON,
        asked_at=NOON,
        next_at=NOON,
        state="failed",
        error="malformed_answer",
        attempts=8,
        drafts={"title": MARKER},
    )
    common = {"companion": companion, "session": session, "sentences": sentences, "made_at": NOON}
    DiaryEntry.objects.create(**common, title=f"The {MARKER}", started_at=NOON, ended_at=NOON)
    Revision.objects.create(**common, about="self_concept", number=1, by="closing")
    verdicts = [{"verdict": "add", "kind": "fact", "memory": str(fact.pk), "of": None, "outcome": "added"}]
    Learning.objects.create(companion=companion, session=session, messages=2, at=NOON, verdicts=verdicts)
    Retraction.objects.create(companion=companion, memory=fact, slot=MARKER, made_at=NOON)
    ForgetProposal.objects.create(
        companion=companion, reply=Reply.objects.filter(companion=companion)[0], subject=MARKER, made_at=NOON
    )
    Forgotten.objects.create(companion=companion, salt=b"salt", statements=[["00ff"]], at=NOON)
    set_slot(companion.pk, MARKER, f"The {MARKER} is grey.", by=By.COMPANION, now=NOON)
    write_block(companion.pk, MARKER, f"Feed the {MARKER}.", by=By.USER, now=NOON)
    document = Document.objects.create(companion=companion, title=MARKER, characters=9, given_at=NOON)
    Page.objects.create(companion=companion, document=document, number=1, text=MARKER, gist=MARKER)
    night = Consolidation.objects.create(
        companion=companion, night_of=NOON.date(), asked_at=NOON, next_at=NOON, state="done"
    )
    Change.objects.create(
        companion=companion, consolidation=night, number=1, kind="insight", memory=fact
    ).others.add(Memory.objects.get(message=message))
    Bookmark.objects.create(companion=companion, message=message, made_at=NOON)
    Branch.objects.create(
        companion=companion, conversation=message.conversation, head=message, name=MARKER, made_at=NOON
    )
    Card.objects.create(companion=companion, content={"data": {"creator": MARKER}}, created_at=NOON)
    ArchiveUpload.objects.create(
        user=companion.user, companion=companion, manifest={"companion": {"name": MARKER}}, created_at=NOON
    )
    CardUpload.objects.create(
        user=companion.user, content={"data": {"name": MARKER}}, form="json", version="3", created_at=NOON
    )
    texts = {"number": 1, "texts": {"persona": MARKER}, "changed": ["persona"], "size": 20}
    CharacterVersion.objects.create(companion=companion, changed_by="page", changed_at=NOON, **texts)
    made = {"form": "text", "created_at": NOON}
    file = {
        "user": companion.user,
        "kind": "past",
        "content_type": "text/plain",
        "bytes": 1,
        "created_at": NOON,
    }
    PastUpload.objects.create(
        user=companion.user, file=StoredFile.objects.create(key="past/00/given", **file), name=MARKER, **made
    )
    job = Job.objects.create(companion=companion, kind=Job.Kind.IMPORT_PAST)
    words = {"titles": [MARKER], "person": MARKER, "pattern": MARKER}
    PastImport.objects.create(companion=companion, job=job, before_at=NOON, **words, **made)
    book = Lorebook.objects.create(
        user=companion.user, companion=companion, name=MARKER, data={"description": MARKER}, created_at=NOON
    )
    entry = LoreEntry.objects.create(lorebook=book, data={"keys": [MARKER], "content": MARKER})
    LoreFiring.objects.create(companion=companion, entry=entry, message=message)
    published = GalleryCharacter.objects.create(user=companion.user, companion=companion, created_at=NOON)
    version = GalleryVersion.objects.create(
        character=published,
        number=1,
        name="Mira",
        **dict.fromkeys(("published_as", "line", "summary", "reason"), MARKER),
        **{"tags": [MARKER], "language": "en", "licence": "CC0-1.0", "rating": "everyone"},
        content=normalise({"data": {"name": MARKER, "description": MARKER}})[0],
        chosen={"hair": MARKER},
        submitted_at=NOON,
    )
    told = {"number": 1, "kind": "other", "text": MARKER}
    copied = {name: getattr(version, name) for name in COPIED}
    copy = ReportedVersion.objects.create(
        user=companion.user, version=version, published=copied, kept_at=NOON
    )
    GalleryReport.objects.create(user=companion.user, character=published, copy=copy, created_at=NOON, **told)
    Pursuit.objects.create(companion=companion, memory=fact)
    Thread.objects.create(companion=companion, memory=fact, opened_at=NOON)
    wake(companion, message)
    Memory.objects.filter(pk=fact.pk).update(
        quotes=[{"message": str(message.pk), "text": f"my {MARKER}"}], is_private=True
    )


def wake(companion: Companion, message: Message) -> None:
    """One of each that comes of a life of its own; the failed waking and the timer set aside are the newest."""
    Timer.objects.filter(companion=companion).update(note=f"Think of the {MARKER}.", message=message)
    timer = Timer.objects.get(companion=companion, name="morning")
    aside = {"state": "set_aside", "error": "bad_schedule", "due_at": None, "look_at": None}
    Timer.objects.create(companion=companion, schedule=MARKER, by="user", created_at=NOON, **aside)
    used = {"round": 1, "id": "c1", "name": "think", "arguments": f'{{"text": "{MARKER}"}}', "result": {}}
    words = {
        "note": MARKER,
        "thought": MARKER,
        "text": f"My {MARKER}",
        "prompt": sent(1, MARKER),
        "steps": [used],
    }
    Waking.objects.create(
        companion=companion,
        timer=timer,
        origin="timer",
        state="failed",
        due_at=NOON,
        created_at=NOON,
        **words,
    )
    Delivery.objects.create(companion=companion, message=message, channel="email", due_at=NOON)
    notices.record_use(companion.user, NOON, NOON)
    former = create_account("former@example.org", PASSWORD)
    OperatorAccess.objects.create(user=companion.user, operator=former, email=companion.user.email, at=NOON)
    Subscription.objects.create(
        user=companion.user, endpoint_digest=MARKER, sealed=MARKER.encode(), browser=MARKER, created_at=NOON
    )


def stored(companion: Companion, kind: str) -> StoredFile:
    """A file's row; it is the newest where its content was found missing."""
    return StoredFile.objects.create(
        user=companion.user,
        companion=companion,
        kind=kind,
        key=f"{kind}/{MARKER}",
        content_type="audio/mpeg",
        bytes=2048,
        sha256="0" * 64,
        seconds=1.5,
        created_at=NOON,
    )


def sound(companion: Companion, message: Message, reply: Reply) -> None:
    """One of each that comes of a voice and a face."""
    common = {"companion": companion, "seconds": 1.5, "created_at": NOON}
    speech = Speech.objects.create(**common, digest=MARKER, file=stored(companion, "speech"))
    Spoken.objects.create(companion=companion, speech=speech, reply=reply, number=0)
    Recording.objects.create(**common, message=message, heard=MARKER, file=stored(companion, "recording"))
    Voice.objects.create(
        companion=companion,
        name=MARKER,
        reference=stored(companion, "reference"),
        reference_text=MARKER,
        consent=MARKER,
        consented_at=NOON,
    )
    Portrait.objects.create(companion=companion, seed=7, chosen={"hair": MARKER})
    Attachment.objects.create(
        companion=companion,
        message=message,
        name=MARKER,
        created_at=NOON,
        file=stored(companion, "attachment"),
    )
    Picture.objects.create(companion=companion, emotion="happy", file=stored(companion, "picture"))
    SoundCall.objects.create(
        user=companion.user,
        companion=companion,
        capability="speech",
        provider="espeak",
        outcome="refused",
        characters=12,
        milliseconds=40,
        said=f"Cannot say {MARKER}",
        started_at=NOON,
    )


@pytest.fixture(scope="module")
def alice(module_rows: None) -> User:
    return make_alice()


@pytest.fixture(scope="module")
def module_scene(alice: User) -> Scene:
    """Made once for all tests of the module, each of which works on it in a transaction of its own."""
    return make_scene(alice)


@pytest.fixture
def scene(db: None, module_scene: Scene) -> Scene:
    return deepcopy(module_scene)  # a test may change what it was given


def make_scene(alice: User) -> Scene:
    companion = create(
        alice,
        name="Mira the Third",  # the one word of theirs that lists hold
        persona=f"Likes {MARKER}.",
        greeting=f"Hello, {MARKER}.",
        tint=40,
        now=NOON,
    )
    message = ask(companion, f"Do you remember my {MARKER}?", NOON)
    fact = keep_fact(companion.pk, f"Alice keeps a {MARKER}.", NOON, NOON, source_ids=[message.pk])
    reply, recall, call = answer(companion, message, fact)
    Mind.objects.create(companion=companion, model="qwen3:8b", sampling={"stop": [MARKER]})
    comparison = Comparison.objects.create(companion=companion, own_model="qwen3:8b", created_at=NOON)
    ComparedExchange.objects.create(
        comparison=comparison, prompt=Prompt.objects.first(), own_text=MARKER, other_text=MARKER
    )
    Job.objects.create(companion=companion, kind="import_log", total=3, error=f"Line 1 says {MARKER}")
    grow(companion, message, fact)
    sound(companion, message, reply)
    space = Space.objects.create(model="all-MiniLM-L6-v2", width=3, max_tokens=256)
    Embedding.objects.create(companion=companion, memory=fact, space=space, vector=[1, 0, 0])
    Token.objects.issue(alice, "laptop")
    Invitation.objects.create(note="Carol", created_by=alice)
    return Scene(companion, message, reply, fact, recall, call)


@pytest.fixture
def opal(db: None) -> User:
    """An operator who is staff and no more: what she may, she may by her group."""
    return create_account("opal@example.org", PASSWORD, name="Opal", is_staff=True)


class Desk(Client):
    """A browser whose operator says why wherever they are asked for a reason."""

    def generic(self, method: str, path: str, *more: Any, **extra: Any) -> Any:
        response = super().generic(method, path, *more, **extra)
        if not response.streaming and b'name="reason_to_open"' in response.content:
            chosen = response.context["chosen"]  # on a list
            data = urlencode([*chosen, ("reason_to_open", WHY)])
            said = super().generic("POST", path, data, "application/x-www-form-urlencoded")
            response = said if chosen else super().generic(method, path, *more, **extra)
        return response


@pytest.fixture
def client() -> Client:
    return Desk()


@pytest.fixture
def desk(client: Client, olive: User) -> Client:
    """Olive's browser, signed in."""
    sign_in(client, olive)
    return client
