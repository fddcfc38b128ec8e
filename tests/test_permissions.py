"""The permission matrix: owner, another user, an operator and nobody, at every operation, page and socket frame."""

import json
import re
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from io import BytesIO
from typing import Any, TypeVar

import pytest
from allauth.usersessions.models import UserSession
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.utils import timezone

from accounts.models import Token, User
from bench.common.past_files import sillytavern
from cards.lorebooks import normalise_book
from cards.reader import ReadCard
from cards.schema import normalise
from companions.archives import uploads as archive_uploads
from companions.conversations.attachments import keep_picture
from companions.gallery import submission
from companions.gallery.publication import compose_publication
from companions.life.timers import timers
from companions.lore import editing
from companions.memories.editing import give_document, write_revision
from companions.models import Branch, Companion, Comparison, ForgetProposal, Message, Reply
from companions.pasts import imports
from companions.pasts import uploads as past_uploads
from companions.pasts.log_import import Line, import_log
from companions.replies.lifecycle import start
from companions.transfer.card_import import keep_upload
from files.pictures import Drawn
from integrations.push.models import Subscription
from jobs.background import in_thread
from memory.core_memory import set_slot, write_block
from memory.goals import begin_goal
from memory.models import Change, Consolidation, DiaryEntry, Document, Memory, Revision
from memory.models.core_memory import By
from memory.threads import open_thread
from pasts.past import PastFile
from pasts.reader import read_past
from providers.models import OwnProvider
from safety import notices
from tests.companions.archives.packing import empty_archive
from tests.companions.face.paintings import painted
from tests.fixtures.rest import Api
from tests.fixtures.routes import openapi, routes
from tests.fixtures.turns import Socket, bearer, connected
from tests.pages.test_page_access import PAGES
from tests.voice.recordings import recorded, spoken

pytestmark = pytest.mark.django_db
T = TypeVar("T")
ON_THE_LOOP = pytest.mark.django_db(transaction=True)  # visits the database from several threads


@dataclass
class Things:
    """What is Alice's: one of each."""

    companion: Companion
    message: Message
    reply: Reply
    memory: Memory
    document: Document
    job_id: uuid.UUID
    token: Token

    @cached_property
    def ids(self) -> dict[str, Any]:
        return {
            "companion_id": self.companion.pk,
            "message_id": self.message.pk,
            "reply_id": self.reply.pk,
            "memory_id": self.memory.pk,
            "document_id": self.document.pk,
            "job_id": self.job_id,
            "pk": self.token.pk,
            "name": "tea",  # of a slot, and of a block
            "slot_id": self.companion.slots.get().pk,
            "change_id": Change.objects.get(companion=self.companion).pk,
            "block_id": self.companion.blocks.get().pk,
            "entry_id": self.companion.diary.get().pk,
            "notice_id": self.companion.user.notices.get().pk,
            "timer_id": self.companion.timers.get(name="morning").pk,
            "waking_id": self.companion.wakings.get().pk,
            "pursuit_id": self.companion.memories.get(kind="goal").pk,
            "thread_id": self.companion.threads.get().pk,
            "subscription_id": self.companion.user.push_subscriptions.get().pk,
            "attachment_id": self.companion.attachments.get().pk,
            "recording_id": self.companion.recordings.get().pk,
            "file_id": self.companion.recordings.get().file_id,
            "proposal_id": self.companion.forget_proposals.get().pk,
            "lorebook_id": self.companion.lorebooks.get().pk,
            "lore_entry_id": self.companion.lorebooks.get().entries.get().pk,
            "version_id": self.companion.versions.get().pk,
            "branch_id": self.companion.branches.get().pk,
            "number": 1,  # of a revision
            "emotion": "happy",  # of a picture
            "archive_id": self.companion.user.archive_uploads.get().pk,
            "upload_id": self.companion.user.card_uploads.get().pk,
            "character_id": self.companion.gallery_character.pk,
            "gallery_version_id": self.companion.gallery_character.versions.get().pk,
            "past_upload_id": self.companion.user.past_uploads.get().pk,
            "import_id": self.companion.past_imports.get().pk,
        }


@cache
def read_hers() -> PastFile:
    return read_past(PAST)


@pytest.fixture
def things(alice: User, mira: Companion) -> Things:
    now = timezone.now()
    job = import_log(mira, [Line(role="user", text="Long ago", at=now)], now)
    started = start(mira, "Hello", None, now)
    notices.record_use(alice, now, now)
    Subscription.objects.create(user=alice, endpoint_digest="d", sealed=b"", created_at=now)
    timers.fire(mira.timers.get(name="morning"), now)
    memory = Memory.objects.get(message=started.message)
    begin_goal(mira.pk, Memory.Kind.GOAL, "Learn to sail", now, [], alice.zone)
    open_thread(memory, None, now)
    set_slot(mira.pk, "tea", "green", by=By.USER, now=now)
    write_block(mira.pk, "tea", "green", by=By.USER, now=now)
    night = Consolidation.objects.create(
        companion=mira, night_of=now.date(), asked_at=now, next_at=now, ended_at=now, state="done"
    )
    told = {"consolidation": night, "number": 1, "kind": Change.Kind.CONTRADICTION, "memory": memory}
    Change.objects.create(companion=mira, **told).others.add(Memory.objects.get(text="Long ago"))
    ForgetProposal.objects.create(companion=mira, reply=started.reply, subject="hello", made_at=now)
    document, token = (
        give_document(mira, "A book", "Once upon a time.", now),
        Token.objects.issue(alice, "hers")[0],
    )
    Token.objects.filter(pk=token.pk).update(id=NUMBER)
    token.pk = NUMBER
    UserSession.objects.create(pk=token.pk, user=alice, ip="192.0.2.1", session_key="hers")
    row = {"name": "Hers", "base_url": "https://models.example/v1", "model": "hers"}
    OwnProvider.objects.create(pk=token.pk, user=alice, **row)
    Comparison.objects.create(companion=mira, own_model="quiet", other_model="loud", created_at=now)
    Branch.objects.create(companion=mira, conversation=mira.conversation, head=started.message, made_at=now)
    session = Message.objects.get(text="Long ago").session_id
    DiaryEntry.objects.create(
        companion=mira, session_id=session, title="Then", started_at=now, ended_at=now, made_at=now
    )
    for about in Revision.About:
        write_revision(mira, about, ["Calm."], now)
    mira.nickname = "Mir"
    mira.save(update_fields=["nickname"])
    lorebook = {"name": "Realm", "entries": [{"keys": ["gate"], "content": "It is shut."}]}
    editing.make_book(alice, normalise_book(lorebook), now, companion=mira)
    recorded(mira, message=started.message)
    keep_picture(mira, Drawn(painted("WEBP"), 40, 30), "cat.png", now)
    read = ReadCard("json", "3", normalise(json.loads(CARD))[0], None, [], [])
    keep_upload(alice, read, CARD, now)
    submission.submit(mira, compose_publication(mira), submission.Terms(**TERMS), None, now)
    # One becomes an import, one is looked at still.
    for_import, _looked_at = (
        past_uploads.keep_upload(alice, PAST, read_hers().form, "past.jsonl", now) for _number in range(2)
    )
    imports.begin(mira, for_import, read_hers(), imports.Wanted(), now)
    archive_uploads.keep_upload(alice, BytesIO(empty_archive()), now)
    return Things(mira, started.message, started.reply, memory, document, job.pk, token)


@pytest.fixture
def who(request: pytest.FixtureRequest) -> User | None:
    return request.getfixturevalue(request.param) if request.param else None


# -- REST -----------------------------------------------------------------------------------------------------------

# A browser's key, of RFC 8291's example
POINT = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
TERMS: dict[str, Any] = {
    **{"published_as": "Lantern", "line": "Come in.", "summary": "", "tags": [], "language": "en"},
    **{"licence": "CC0-1.0", "rating": "everyone"},
}
NUMBER = 1_000_000  # of things whose address is a number; no sequence comes so far
BODIES: dict[str, Any] = {
    "confirm_forget_proposal": {},
    "create_companion": {"name": "New"},
    "adopt_character": {},
    "report_character": {"kind": "other"},
    "publish_character": {"companion_id": "", "is_mine": True, **TERMS},
    "change_companion": {"name": "Changed"},
    "send_message": {"text": "Hi"},
    "say_anew": {"text": "Hi"},
    "rename_branch": {"name": "Otherwise"},
    "add_memory": {"text": "A fact"},
    "change_memory": {"is_pinned": True},
    "delete_memories": {"ids": ["00000000-0000-0000-0000-000000000000"]},
    "import_digital_life": {
        **dict.fromkeys(
            ("selfName", "userName", "memoryAboutSelf", "memoryAboutUser", "currentSummary"), "x"
        ),
        **{name: [] for name in ("longTermMemory", "shortTermMemory", "archivedMemory")},
    },
    "recall": {"cue": "hello"},
    "change_me": {"about": "I repair clocks."},
    "find_news": {"observations": ["hello"]},
    "create_lorebook": {"book": {"name": "Realm", "entries": []}},
    "replace_lorebook": {"book": {"name": "Realm", "entries": []}},
    "try_lore": {"text": "hello"},
    "try_character": {"text": "hello", "persona": "Calm."},
    "correct_recording": {"text": "Hello"},
    "send_recording": {"text": "Hello"},
    "speak": {"text": "Hello"},
    "change_voice": {"speed": 1.5},
    "give_document": {"title": "A book", "text": "Once upon a time."},
    "look_up": {"question": "When was it?"},
    "set_slot": {"text": "black"},
    "write_block": {"text": "black"},
    "decide_model_change": {"decision": "later", "model": "loud"},
    "start_comparison": {"model": "loud"},
    "settle_change": {"keep": "both"},
    "change_import": {"learning": "paused"},
    "change_pursuit": {"progress": 40},
    "change_thread": {"state": "settled"},
    "change_life_settings": {"reaches_out": True},
    "change_mind": {"preset": "calm"},
    "mark_read": {},
    "put_portrait": {"seed": 7, "features": {"hair": "bob"}},
    "set_timer": {"schedule": "5min", "note": "tea"},
    "import_log": {"messages": []},
    "write_self_concept": {"sentences": ["Curious."]},
    "subscribe_to_push": {"endpoint": "https://93.184.216.34/", "keys": {"p256dh": POINT, "auth": "A" * 22}},
    "write_user_profile": {"sentences": ["Curious."]},
}
FORMS = {
    name: {"file": lambda: SimpleUploadedFile("a.wav", spoken())} for name in ("transcribe", "add_recording")
}
FORMS["set_voice_reference"] = {**FORMS["add_recording"], "consent": lambda: "It is my own voice."}
FORMS["read_preset_file"] = {"file": lambda: SimpleUploadedFile("a.json", b'{"temp": 1}')}
FORMS["add_attachment"] = {"file": lambda: SimpleUploadedFile("a.png", painted())}
CARD = b'{"spec": "chara_card_v3", "data": {"name": "Odessa"}}'
FORMS |= {
    name: {"file": lambda: SimpleUploadedFile("a.json", CARD)} for name in ("preview_card", "import_card")
}
PAST = sillytavern([(True, "My cat hides under the stove.", None), (False, "Then it is off.", None)])
FORMS |= {
    name: {"file": lambda: SimpleUploadedFile("a.jsonl", PAST)} for name in ("preview_past", "import_past")
}
FORMS["import_archive"] = {"file": lambda: SimpleUploadedFile("a.zip", empty_archive())}
FORMS["put_picture"] = {"file": lambda: SimpleUploadedFile("a.png", painted())}
QUERIES = dict.fromkeys(("send_message", "say_anew", "get_reply_speech", "reply_speech"), "?wait=0")
QUERIES["search_messages"] = "?q=hello"
ONES_OWN = {
    "list_companions",
    "create_companion",
    "import_digital_life",
    "import_archive",
    "import_card",
    "preview_card",
    "preview_past",
    "count_unread",
    "list_notices",
    "list_presets",
    "list_gallery",
    "list_published",
}
ONES_OWN |= {"get_me", "change_me", "list_lorebooks", "create_lorebook"}
ONES_OWN |= {"list_files", "get_push_key", "list_push_subscriptions", "subscribe_to_push", "transcribe"}
IN_THE_WRONG_STATE = {
    "retry_reply",
    "continue_reply",
    "say_anew",
    "choose_branch",
    "make_branch",
    "undo_change",
    "start_comparison",
    "restore_memory",
    "send_recording",
    "transcribe_recording",
    "get_reply_speech",
    "adopt_character",
    "report_character",
}  # of this table the reply and the memory are still open, the contradiction not settled, the recording sent, and the
# published character hers and not approved: 409


# Each finds what those before it have left: the reply is open until it is stopped.
ASYNC = ["try_character", "transcribe", "add_attachment", "add_recording"]
ASYNC += ["transcribe_recording", "send_recording", "speak", "get_message_speech", "get_reply_speech"]
ASYNC += ["get_voice", "change_voice", "set_voice_reference"]
ASYNC += ["retry_reply", "continue_reply", "say_anew", "send_message", "stop_reply"]


PARAMETER = re.compile(r"[{<](?:\w+:)?(\w+)[}>]")  # of an operation's path, or of a page's route
Operation = tuple[str, str, str]


def operations() -> dict[str, Operation]:
    """Return every operation by its name."""
    return {
        operation["operationId"]: (operation["operationId"], method.upper(), path)
        for path, methods in openapi()["paths"].items()
        for method, operation in methods.items()
    }


def call(api: Api, things: Things, name: str, method: str, path: str) -> Any:
    """The answer to a person's call of the operation on Alice's things."""
    where = PARAMETER.sub(lambda found: str(things.ids[found[1]]), path)
    where = where.removeprefix("/api/v1") + QUERIES.get(name, "")
    if name in FORMS:
        return api.form(where, {field: make() for field, make in FORMS[name].items()})
    body = BODIES.get(name)
    if name == "publish_character":
        body = {**BODIES[name], "companion_id": str(things.companion.pk)}
    if name == "make_branch":
        body = {"from_message": str(things.message.pk)}
    return api.call(method, where, body)


def give_tokens(people: dict[str, User]) -> dict[str, Api]:
    """Return the API for each person, and for nobody."""
    return {"": Api(None), **{name: Api(person) for name, person in people.items()}}


def check_operation(things: Things, apis: dict[str, Api], operation: Operation) -> None:
    """The owner comes last: she finds all there, since the others have changed nothing."""
    name = operation[0]
    assert call(apis[""], things, *operation).status_code == 401
    for other in ("mallory", "olive"):
        code = call(apis[other], things, *operation).status_code
        is_right = code // 100 == 2 if name in ONES_OWN else code == 404
        assert is_right, (
            f"{other} got {code}: find it through companions/access.py (422: give it a body in BODIES)"
        )
    assert Companion.objects.get(pk=things.companion.pk).name == "Mira"
    code = call(apis["alice"], things, *operation).status_code
    is_right = code == 409 if name in IN_THE_WRONG_STATE else code // 100 == 2
    assert is_right, (
        f"its owner got {code} (422: give it a body in BODIES; 409: name it in IN_THE_WRONG_STATE)"
    )


@pytest.fixture
def people(alice: User, mallory: User, olive: User) -> dict[str, User]:
    return {"alice": alice, "mallory": mallory, "olive": olive}


def find_wrong(cases: Iterable[T], check: Callable[[T], None]) -> list[tuple[T, str]]:
    """Return what fails its check; each is undone before the next one."""
    wrong = []
    for case in cases:
        with transaction.atomic():
            try:
                check(case)
            except AssertionError as error:
                wrong.append((case, str(error)))
            transaction.set_rollback(True)
    return wrong


def test_who_may_call_an_operation(
    things: Things, people: dict[str, User], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("ERROR")  # what is wrong would stand above the lines of a thousand requests
    found = [operation for name, operation in operations().items() if name not in ASYNC]
    assert len(found) > 60
    apis = give_tokens(people)
    wrong = find_wrong(found, lambda operation: check_operation(things, apis, operation))
    assert not wrong, "\n".join(f"{name} {method} {path}: {why}" for (name, method, path), why in wrong)


@ON_THE_LOOP
@pytest.mark.usefixtures("speech_rehearsal", "rehearsal")
def test_who_may_call_an_operation_on_the_loop(things: Things, people: dict[str, User]) -> None:
    found, apis, wrong = operations(), give_tokens(people), {}
    for name in ASYNC:
        try:
            check_operation(things, apis, found[name])
        except AssertionError as error:
            wrong[name] = str(error)
    assert not wrong


def test_a_child_is_found_only_through_its_own_companion(
    things: Things, alice: User, bob: User, tian: Companion
) -> None:
    """Bob's companion leads nobody to Alice's memory."""
    for person in (alice, bob):
        response = Api(person).get(f"/companions/{tian.pk}/memories/{things.memory.pk}")
        assert response.status_code == 404


# -- pages ----------------------------------------------------------------------------------------------------------

FOR_ALL = {
    "welcome",
    "livez",
    "readyz",
    "healthz",
    "set_language",
    "account_signup",
    "signup_withdraw",
    "service_worker",
    "manifest",
    "offline",
    "favicon",
}
NOT_OURS = ("admin", "api", "account_", "mfa_", "jsi18n")


def pages() -> list[tuple[str, str]]:
    """Return our own pages by name and route, without those of a companion: see `tests/pages/test_page_access.py`.

    Those of allauth, the admin and the API have their tests elsewhere, too.
    """
    found = {url.name: route for route, url in routes() if url.name and not url.name.startswith(NOT_OURS)}
    return [(name, route) for name, route in found.items() if name not in FOR_ALL | PAGES.keys()]


def address(route: str, things: Things) -> str:
    return "/" + PARAMETER.sub(lambda found: str(things.ids[found[1]]), route)


def sign_in(people: dict[str, User]) -> dict[str, Client]:
    """Return a browser for each person, and one for nobody."""
    browsers = {name: Client() for name in ("", *people)}
    for name, person in people.items():
        browsers[name].force_login(person)
    return browsers


def check_page(things: Things, browsers: dict[str, Client], page: tuple[str, str]) -> None:
    """The owner comes last: she finds all there, since the others have changed nothing."""
    name, route = page
    for other in ("mallory", "olive", ""):
        for method in ("GET", "POST"):
            _refused(browsers[other], other, method, route, things)
    _nothing_is_changed(things)
    client = browsers["alice"]
    response = client.get(address(route, things) + QUERIES.get(name, ""))
    if response.status_code == 405:
        response = client.post(address(route, things))
    assert response.status_code in (200, 204, 302, 303, 400, 409, 422), response.status_code


def test_a_page_is_its_owners(things: Things, people: dict[str, User], settings: Any) -> None:
    settings.OWN_PROVIDERS_EACH = 1
    found = pages()
    assert len(found) > 30
    browsers = sign_in(people)
    assert not find_wrong(found, lambda page: check_page(things, browsers, page))


def _refused(client: Client, who: str, method: str, route: str, things: Things) -> None:
    response = client.generic(method, address(route, things))
    if response.status_code == 405:
        return  # the page does not know this method
    if not who:
        assert response.status_code == 302
        assert response["Location"].startswith("/accounts/login/")
    elif "<" in route:
        assert response.status_code == 404, (who, method)
    else:
        assert response.status_code in (200, 302, 400, 422), (who, method)
        assert str(things.companion.pk).encode() not in b"".join(response)


def _nothing_is_changed(things: Things) -> None:
    assert Companion.objects.filter(pk=things.companion.pk, name="Mira").exists()
    assert Memory.objects.filter(pk=things.memory.pk, text="Hello", is_pinned=False).exists()
    assert Token.objects.filter(pk=things.token.pk, revoked_at=None).exists()
    assert Subscription.objects.owned_by(things.companion.user).exists()


# -- sockets --------------------------------------------------------------------------------------------------------


@ON_THE_LOOP
@pytest.mark.usefixtures("web")
@pytest.mark.parametrize(
    ("who", "code"), [("mallory", 4404), ("olive", 4404), (None, 4401)], indirect=["who"], ids=str
)
async def test_a_socket_to_anothers_companion_closes(things: Things, who: User | None, code: int) -> None:
    socket = Socket(things.companion.pk, *([await bearer(who)] if who else []))
    await socket.wire.connect(timeout=30)
    assert await socket.wire.receive_output(5) == {"type": "websocket.close", "code": code}


@ON_THE_LOOP
@pytest.mark.usefixtures("web")
@pytest.mark.parametrize("type", ["reply.stop", "reply.resume"])
async def test_a_frame_about_anothers_reply_finds_nothing(
    things: Things, bob: User, tian: Companion, type: str
) -> None:
    async with connected(bob, tian) as socket:
        await socket.send(type, id=str(things.reply.pk), after=0)
        assert (await socket.frame())["code"] == "no_such_reply"
    reply = await in_thread(Reply.objects.get, pk=things.reply.pk)
    assert not reply.is_stop_asked


@ON_THE_LOOP
@pytest.mark.usefixtures("web")
async def test_what_is_said_to_one_companion_is_heard_on_no_other_socket(
    alice: User, bob: User, mira: Companion, tian: Companion
) -> None:
    async with connected(alice, mira) as hers, connected(bob, tian) as his:
        await hers.send("message.send", text="For Mira alone", client_id="1")
        await hers.until("reply.done")
        assert await his.wire.receive_nothing(0.3)
