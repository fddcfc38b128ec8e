"""Who may open which page: the owner; for everybody else the companion does not exist."""

import errno
from collections.abc import Callable
from dataclasses import fields
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.template.loader import render_to_string
from django.test import Client
from django.urls import URLPattern, URLResolver
from django.utils import timezone
from psycopg.errors import DiskFull

from accounts.models import Token, User
from cards.lorebooks import normalise_book
from companions.conversations.attachments import keep_picture
from companions.lore.editing import make_book
from companions.memories.editing import give_document
from companions.models import Branch, ForgetProposal, Job, Lorebook, PastImport, Timer, Waking
from companions.pages.urls import companion_patterns
from files.pictures import Drawn
from memory.goals import begin_goal
from memory.models import Block, Change, Consolidation, DiaryEntry, Memory, Revision, Slot
from memory.threads import open_thread
from tests.companions.face.paintings import painted
from tests.fixtures.people import make_alice, make_mallory, make_olive
from tests.fixtures.turns import make_companion
from tests.pages.conftest import Told, tell
from tests.voice.recordings import recorded
from voice.models import Recording
from voice.urls import of_companion as of_voice

NOW = timezone.now()


def entry(told: Told) -> UUID:
    """A diary entry of the session in which it was told."""
    given = {"title": "Then", "started_at": NOW, "ended_at": NOW, "made_at": NOW}
    return DiaryEntry.objects.get_or_create(
        companion=told.companion, session_id=told.message.session_id, defaults=given
    )[0].pk


def revision(told: Told) -> int:
    """The number of the one revision of each of the two texts."""
    for about in Revision.About:
        Revision.objects.get_or_create(
            companion=told.companion, about=about, number=1, defaults={"by": "user", "made_at": NOW}
        )
    return 1


def document(told: Told) -> UUID:
    return give_document(told.companion, "A book", "Once upon a time.", NOW).pk


def night(told: Told) -> Consolidation:
    return Consolidation.objects.get_or_create(
        companion=told.companion,
        night_of=NOW.date(),
        defaults={"asked_at": NOW, "next_at": NOW, "ended_at": NOW, "state": "done"},
    )[0]


def change(told: Told) -> UUID:
    given = {"consolidation": night(told), "number": 1, "kind": "reviewed", "memory": told.fact}
    return Change.objects.get_or_create(companion=told.companion, **given)[0].pk


def timer(told: Told) -> UUID:
    """The timer of the morning, which each companion is made with."""
    return Timer.objects.get(companion=told.companion, name="morning").pk


def waking(told: Told) -> UUID:
    due = {"timer_id": timer(told), "due_at": NOW}
    given = {"origin": "timer", "created_at": NOW}
    return Waking.objects.get_or_create(companion=told.companion, **due, defaults=given)[0].pk


def thread(told: Told) -> UUID:
    """Something that is open between the two."""
    return open_thread(Memory.objects.get(pk=goal(told)), None, NOW).pk


def proposal(told: Told) -> UUID:
    """What the companion proposed to forget in its reply."""
    given = {"subject": "statistics", "made_at": NOW}
    return ForgetProposal.objects.get_or_create(companion=told.companion, reply=told.reply, defaults=given)[
        0
    ].pk


def goal(told: Told) -> UUID:
    """A goal of the companion's own."""
    found = Memory.objects.of(told.companion.pk).filter(kind=Memory.Kind.GOAL).first()
    if found is None:
        given = (told.companion.pk, Memory.Kind.GOAL, "Learn to sail", NOW, [])
        found = begin_goal(*given, told.companion.user.zone).memory
    return found.pk


def branch(told: Told) -> UUID:
    """A branch that ends with the message."""
    given = {"conversation": told.companion.conversation, "made_at": NOW}
    return Branch.objects.get_or_create(companion=told.companion, head=told.message, defaults=given)[0].pk


def attachment(told: Told) -> UUID:
    """A picture that waits to be sent."""
    drawn = Drawn(painted("WEBP"), 40, 30)
    return (told.companion.attachments.first() or keep_picture(told.companion, drawn, "cat.png", NOW)).pk


def recording(told: Told) -> UUID:
    """A recording of the message."""
    return (
        Recording.objects.filter(message=told.message).first()
        or recorded(told.companion, message=told.message)
    ).pk


def version(told: Told) -> UUID:
    """A version of the character, from before it got another persona."""
    if not told.companion.versions.exists():
        told.companion.persona = "Mira is loud."
        told.companion.save(update_fields=["persona"])
    return told.companion.versions.get().pk


def lorebook(told: Told) -> Lorebook:
    """A lorebook of the companion, with one entry."""
    found = told.companion.lorebooks.first()
    if found is None:
        entries = [{"keys": ["dragon"], "content": "It sleeps."}]
        book = normalise_book({"name": "Realm", "entries": entries})
        found = make_book(told.companion.user, book, NOW, companion=told.companion)
    return found


def lore_entry(told: Told) -> str:
    """The way to that entry, from the companion's lore."""
    book = lorebook(told)
    return f"{book.pk}/entries/{book.entries.get().pk}/"


def past(told: Told) -> UUID:
    """Earlier talk that came as a file."""
    found = told.companion.past_imports.first()
    if found is None:
        job = Job.objects.create(companion=told.companion, kind=Job.Kind.IMPORT_PAST)
        found = PastImport.objects.create(
            companion=told.companion, job=job, form="text", before_at=NOW, created_at=NOW, state="done"
        )
    return found.pk


PAGES: dict[str, Callable[[Told], str]] = {
    "talk": lambda told: told.path,
    "turns": lambda told: f"{told.path}turns/",
    "search": lambda told: f"{told.path}search/?q=exam",
    "bookmarks": lambda told: f"{told.path}bookmarks/",
    "message_bookmark": lambda told: f"{told.path}messages/{told.message.pk}/bookmark/",
    "turn": lambda told: f"{told.path}turns/{told.message.pk}/",
    "reply_retry": lambda told: f"{told.path}replies/{told.reply.pk}/retry/",
    "reply_continue": lambda told: f"{told.path}replies/{told.reply.pk}/continue/",
    "message_delete": lambda told: f"{told.path}messages/{told.message.pk}/delete/",
    "message_edit": lambda told: f"{told.path}messages/{told.message.pk}/edit/",
    "message_choose": lambda told: f"{told.path}messages/{told.message.pk}/choose/",
    "message_part": lambda told: f"{told.path}messages/{told.message.pk}/part/",
    "branches": lambda told: f"{told.path}branches/",
    "branch_choose": lambda told: f"{told.path}branches/{branch(told)}/choose/",
    "branch_compare": lambda told: f"{told.path}branches/{branch(told)}/compare/",
    "branch_rename": lambda told: f"{told.path}branches/{branch(told)}/rename/",
    "branch_delete": lambda told: f"{told.path}branches/{branch(told)}/delete/",
    "memories": lambda told: f"{told.path}memories/",
    "memory_add": lambda told: f"{told.path}memories/add/",
    "memory": lambda told: f"{told.path}memories/{told.fact.pk}/",
    "memory_edit": lambda told: f"{told.path}memories/{told.fact.pk}/edit/",
    "memory_pin": lambda told: f"{told.path}memories/{told.fact.pk}/pin/",
    "memory_restore": lambda told: f"{told.path}memories/{told.fact.pk}/restore/",
    "memory_delete": lambda told: f"{told.path}memories/{told.fact.pk}/delete/",
    "always": lambda told: f"{told.path}always/",
    "slot_add": lambda told: f"{told.path}always/slots/add/",
    "slot": lambda told: f"{told.path}always/slots/{told.slot.pk}/",
    "slot_delete": lambda told: f"{told.path}always/slots/{told.slot.pk}/delete/",
    "block_add": lambda told: f"{told.path}always/blocks/add/",
    "block": lambda told: f"{told.path}always/blocks/{told.block.pk}/",
    "block_delete": lambda told: f"{told.path}always/blocks/{told.block.pk}/delete/",
    "read": lambda told: f"{told.path}read/",
    "gauge": lambda told: f"{told.path}gauge/",
    "markdown": lambda told: f"{told.path}markdown/",
    "diary": lambda told: f"{told.path}diary/",
    "closing": lambda told: f"{told.path}diary/closing/",
    "session_end": lambda told: f"{told.path}diary/end/",
    "session_clear": lambda told: f"{told.path}diary/clear/",
    "diary_entry": lambda told: f"{told.path}diary/{entry(told)}/",
    "diary_said": lambda told: f"{told.path}diary/{entry(told)}/said/",
    "diary_delete": lambda told: f"{told.path}diary/{entry(told)}/delete/",
    "profile": lambda told: f"{told.path}profile/",
    "profile_edit": lambda told: f"{told.path}profile/edit/",
    "profile_compare": lambda told: f"{told.path}profile/compare/?a={revision(told)}&b=1",
    "profile_restore": lambda told: f"{told.path}profile/{revision(told)}/restore/",
    "self_concept": lambda told: f"{told.path}self-concept/",
    "self_concept_edit": lambda told: f"{told.path}self-concept/edit/",
    "self_concept_compare": lambda told: f"{told.path}self-concept/compare/?a={revision(told)}&b=1",
    "self_concept_restore": lambda told: f"{told.path}self-concept/{revision(told)}/restore/",
    "forget_confirm": lambda told: f"{told.path}forget-proposals/{proposal(told)}/confirm/",
    "forget_decline": lambda told: f"{told.path}forget-proposals/{proposal(told)}/decline/",
    "forgetting": lambda told: f"{told.path}forgetting/",
    "reply_decide": lambda told: f"{told.path}replies/{told.reply.pk}/decide/",
    "model_decide": lambda told: f"{told.path}mind/decide/",
    "comparison": lambda told: f"{told.path}mind/comparison/",
    "comparison_delete": lambda told: f"{told.path}mind/comparison/delete/",
    "documents": lambda told: f"{told.path}documents/",
    "document_give": lambda told: f"{told.path}documents/give/",
    "document": lambda told: f"{told.path}documents/{document(told)}/",
    "document_delete": lambda told: f"{told.path}documents/{document(told)}/delete/",
    "companion_publish": lambda told: f"{told.path}settings/publish/",
    "lore": lambda told: f"{told.path}lore/",
    "lore_try": lambda told: f"{told.path}lore/try/",
    "lorebook_add": lambda told: f"{told.path}lore/add/",
    "lorebook_import": lambda told: f"{told.path}lore/import/",
    "lorebook": lambda told: f"{told.path}lore/{lorebook(told).pk}/",
    "lorebook_settings": lambda told: f"{told.path}lore/{lorebook(told).pk}/settings/",
    "lorebook_export": lambda told: f"{told.path}lore/{lorebook(told).pk}/export/",
    "lorebook_delete": lambda told: f"{told.path}lore/{lorebook(told).pk}/delete/",
    "lore_entry_add": lambda told: f"{told.path}lore/{lorebook(told).pk}/entries/add/",
    "lore_entry": lambda told: f"{told.path}lore/{lore_entry(told)}",
    "lore_entry_delete": lambda told: f"{told.path}lore/{lore_entry(told)}delete/",
    "nights": lambda told: f"{told.path}nights/",
    "night_retry": lambda told: f"{told.path}nights/{night(told).pk}/retry/",
    "change_undo": lambda told: f"{told.path}nights/changes/{change(told)}/undo/",
    "change_settle": lambda told: f"{told.path}nights/changes/{change(told)}/settle/",
    "memories_delete": lambda told: f"{told.path}memories/delete/",
    "memory_private": lambda told: f"{told.path}memories/{told.fact.pk}/private/",
    "companion_export": lambda told: f"{told.path}settings/export/",
    "companion_export_digital_life": lambda told: f"{told.path}settings/export/digital-life/",
    "companion_export_archive": lambda told: f"{told.path}settings/export/archive/",
    "companion_export_card": lambda told: f"{told.path}settings/export/card/?as=json",
    "life": lambda told: f"{told.path}life/",
    "life_settings": lambda told: f"{told.path}life/settings/",
    "life_mute": lambda told: f"{told.path}life/mute/",
    "inner_states": lambda told: f"{told.path}life/inner-state/",
    "waking_cancel": lambda told: f"{told.path}life/wakings/{waking(told)}/cancel/",
    "timers": lambda told: f"{told.path}timers/",
    "timer_preview": lambda told: f"{told.path}timers/preview/",
    "timer_add": lambda told: f"{told.path}timers/add/",
    "timer_cancel": lambda told: f"{told.path}timers/{timer(told)}/cancel/",
    "timer_fire": lambda told: f"{told.path}timers/{timer(told)}/fire/",
    "timer_again": lambda told: f"{told.path}timers/{timer(told)}/again/",
    "pursuit_add": lambda told: f"{told.path}pursuits/add/",
    "pursuits": lambda told: f"{told.path}pursuits/",
    "thread_change": lambda told: f"{told.path}threads/{thread(told)}/",
    "pursuit_change": lambda told: f"{told.path}pursuits/{goal(told)}/",
    "reply_speech": lambda told: f"{told.path}replies/{told.reply.pk}/speech/0/",
    "message_speech": lambda told: f"{told.path}messages/{told.answer.pk}/speech/0/",
    "call": lambda told: f"{told.path}call/",
    "call_notice": lambda told: f"{told.path}call/notice/",
    "voice": lambda told: f"{told.path}voice/",
    "voice_sample": lambda told: f"{told.path}voice/sample/",
    "voice_reads_aloud": lambda told: f"{told.path}voice/reads-aloud/",
    "voice_reference": lambda told: f"{told.path}voice/reference/",
    "voice_reference_delete": lambda told: f"{told.path}voice/reference/delete/",
    "attachment_add": lambda told: f"{told.path}attachments/add/",
    "attachment_delete": lambda told: f"{told.path}attachments/{attachment(told)}/delete/",
    "recording_add": lambda told: f"{told.path}recordings/",
    "recording_transcribe": lambda told: f"{told.path}recordings/{recording(told)}/transcribe/",
    "recording_send": lambda told: f"{told.path}recordings/{recording(told)}/send/",
    "recording_correct": lambda told: f"{told.path}recordings/{recording(told)}/correct/",
    "recording_delete": lambda told: f"{told.path}recordings/{recording(told)}/delete/",
    "about": lambda told: f"{told.path}about/",
    "about_count": lambda told: f"{told.path}about/count/",
    "about_try": lambda told: f"{told.path}about/try/",
    "character_versions": lambda told: f"{told.path}about/versions/",
    "character_version": lambda told: f"{told.path}about/versions/{version(told)}/",
    "version_delete": lambda told: f"{told.path}about/versions/{version(told)}/delete/",
    "version_restore": lambda told: f"{told.path}about/versions/{version(told)}/restore/",
    "companion": lambda told: f"{told.path}settings/",
    "advanced": lambda told: f"{told.path}settings/advanced/",
    "context": lambda told: f"{told.path}settings/context/",
    "imports": lambda told: f"{told.path}settings/pasts/",
    "import_learning": lambda told: f"{told.path}settings/pasts/{past(told)}/learning/",
    "import_undo": lambda told: f"{told.path}settings/pasts/{past(told)}/undo/",
    "companion_delete": lambda told: f"{told.path}settings/delete/",
    "rehearsals_delete": lambda told: f"{told.path}settings/rehearsals/",
    "mind": lambda told: f"{told.path}mind/",
    "mind_preset": lambda told: f"{told.path}mind/manner/",
    "mind_values": lambda told: f"{told.path}mind/values/",
    "mind_preset_file": lambda told: f"{told.path}mind/preset-file/",
    "face": lambda told: f"{told.path}face/",
    "face_preview": lambda told: f"{told.path}face/preview/",
    "face_image": lambda told: f"{told.path}face/image/",
    "face_pictures": lambda told: f"{told.path}face/pictures/",
    "face_picture_remove": lambda told: f"{told.path}face/pictures/happy/remove/",
}
POST_ONLY = {
    *("voice_sample", "voice_reads_aloud", "voice_reference", "voice_reference_delete"),
    *("message_choose", "message_part", "message_bookmark", "branch_choose", "branch_rename"),
    "document_give",
    *("lore_try", "lorebook_add", "lorebook_import", "about_count", "about_try", "version_restore"),
    "night_retry",
    "change_undo",
    "change_settle",
    "memories_delete",
    "reply_retry",
    "reply_continue",
    "reply_decide",
    "model_decide",
    "comparison_delete",
    "forget_confirm",
    "forget_decline",
    "memory_add",
    "memory_pin",
    "memory_restore",
    "slot_add",
    "block_add",
    "companion_delete",
    "rehearsals_delete",
    "mind_preset",
    "mind_values",
    "mind_preset_file",
    "face_pictures",
    "face_picture_remove",
    "life_mute",
    "waking_cancel",
    "timer_add",
    "timer_cancel",
    "timer_fire",
    "timer_again",
    "pursuit_add",
    "pursuit_change",
    "thread_change",
    *("read", "markdown"),
    *("attachment_add", "attachment_delete"),
    "recording_add",
    "recording_transcribe",
    "recording_send",
    "recording_delete",
    "import_learning",
}
LOOKED_AT = {  # they only show, and take no POST
    *("talk", "turns", "turn", "gauge", "memories", "memory", "always", "documents", "document", "nights"),
    *(
        "diary",
        "closing",
        "session_end",
        "diary_entry",
        "diary_said",
        "companion_export",
        "companion_export_digital_life",
        "companion_export_archive",
        "companion_export_card",
    ),
    *("profile", "profile_compare", "self_concept", "self_concept_compare", "life"),
    *("inner_states", "timers", "timer_preview", "pursuits", "context", "face_preview", "face_image"),
    *("reply_speech", "message_speech", "call", "call_notice", "branches", "branch_compare"),
    *("imports", "search", "bookmarks", "advanced", "lore", "lorebook", "lorebook_export"),
    *("character_versions", "character_version"),
}
# They visit the database from several threads, which see only what was committed: see test_page_access_in_threads.py.
IN_THREADS = {"about_try", "message_edit", "reply_speech", "message_speech", "voice_sample", "call_notice"}
# They do so only for their owner, whose POST is tested with their subject: here nobody comes that far.
DONE_IN_THREADS = {"reply_retry", "reply_continue", "reply_decide", "attachment_add"}
DONE_IN_THREADS |= {"recording_add", "recording_transcribe", "recording_send"}


@pytest.fixture(scope="module")
def told_once(module_rows: None) -> Told:
    return tell(make_companion(make_alice()))


@pytest.fixture
def told(db: None, told_once: Told) -> Told:
    """What was told once for all these tests, as this one finds it."""
    rows = {field.name: getattr(told_once, field.name) for field in fields(Told)}
    return Told(**{name: type(row)._base_manager.get(pk=row.pk) for name, row in rows.items()})


@pytest.fixture
def alice(told: Told) -> User:
    return told.companion.user


class Sessions(NamedTuple):
    """The keys of sessions of these people."""

    alice: str
    mallory: str
    olive: str


@pytest.fixture(scope="module")
def sessions(told_once: Told) -> Sessions:
    return Sessions(*map(sign_in, (told_once.companion.user, make_mallory(), make_olive())))


def names(patterns: list[URLPattern | URLResolver]) -> set[str | None]:
    found: set[str | None] = set()
    for one in patterns:
        found |= names(one.url_patterns) if isinstance(one, URLResolver) else {one.name}
    return found


def test_the_matrix_leaves_no_page_out() -> None:
    shown = names([*companion_patterns, *of_voice])
    assert shown == set(PAGES), "give a new page an object to show in PAGES"


@pytest.mark.parametrize("name", [name for name in PAGES if name not in IN_THREADS])
@pytest.mark.usefixtures("speech_rehearsal")
def test_who_is_let_in(told: Told, sessions: Sessions, name: str) -> None:
    check_page(told, sessions, name)


def check_page(told: Told, sessions: Sessions, name: str) -> None:
    """The owner comes last: she finds all there, since the others have changed nothing."""
    page = PAGES[name](told)
    _nobody_is_sent_to_sign_in(page, name)
    _nothing_is_done_without_its_csrf_token(sessions.alice, page)
    for other in (sessions.mallory, sessions.olive):
        _for_another_it_does_not_exist(other, page, name)
    _all_is_as_it_was(told)
    assert _home(sessions.alice).get(page).status_code == (405 if name in POST_ONLY else 200)
    if name in POST_ONLY - DONE_IN_THREADS:
        code = _home(sessions.alice).post(page).status_code
        assert code in (200, 204, 302, 303, 400, 409, 422), code


def test_the_address_of_an_action_leads_to_the_page_above_it(told: Told, sessions: Sessions) -> None:
    response = _home(sessions.alice).get(f"{told.path}messages/{told.message.pk}/bookmark/")
    assert (response.status_code, response["Allow"]) == (405, "POST")
    assert f'href="{told.path}">Go to that page' in response.content.decode()


def sign_in(user: User) -> str:
    """Return the key of a session of theirs."""
    client = Client()
    client.force_login(user)
    return str(client.session.session_key)


def _home(session: str, *, enforce_csrf_checks: bool = False) -> Client:
    client = Client(enforce_csrf_checks=enforce_csrf_checks)
    client.cookies[settings.SESSION_COOKIE_NAME] = session
    return client


def _nobody_is_sent_to_sign_in(page: str, name: str) -> None:
    for method in ["POST"] * (name not in LOOKED_AT) + ["GET"] * (name not in POST_ONLY):
        response = Client().generic(method, page)
        assert response.status_code == 302, f"{method}: a page that takes no POST belongs in LOOKED_AT"
        assert response["Location"].startswith("/accounts/login/?next=")


def _nothing_is_done_without_its_csrf_token(session: str, page: str) -> None:
    response = _home(session, enforce_csrf_checks=True).post(page, {"text": "x", "typed_name": "Mira"})
    assert response.status_code == 403
    assert "out of date" in response.content.decode()


def _for_another_it_does_not_exist(session: str, page: str, name: str) -> None:
    client = _home(session)
    assert client.get(page).status_code == (405 if name in POST_ONLY else 404)
    if name not in LOOKED_AT:
        sent = {"text": "mine now", "name": "mine", "tint": "40", "typed_name": "Mira"}
        assert client.post(page, sent).status_code == 404


def _all_is_as_it_was(told: Told) -> None:
    told.companion.refresh_from_db()
    told.fact.refresh_from_db()
    assert (Slot.objects.get().text, Block.objects.get().text) == ("statistics", "Learn.")
    fact = (told.fact.text, told.fact.is_pinned)
    assert (told.companion.name, *fact) == ("Mira", "The exam is statistics", False)


@pytest.mark.parametrize(
    "path",
    [
        "memories/{fact}/",
        "always/slots/{slot}/",
        "always/blocks/{block}/",
        "turns/{message}/",
        "messages/{message}/delete/",
    ],
)
def test_one_companions_things_are_not_another_ones(
    at_home: Client, alice: User, told: Told, path: str
) -> None:
    other = make_companion(alice, name="Other")
    path = path.format(slot=told.slot.pk, block=told.block.pk, fact=told.fact.pk, message=told.message.pk)
    assert at_home.get(f"/companions/{other.pk}/{path}").status_code == 404


@pytest.mark.parametrize("path", ["/companions/", "/companions/new/", "/settings/"])
def test_private_pages_are_kept_by_no_cache(at_home: Client, path: str) -> None:
    assert "no-store" in at_home.get(path)["Cache-Control"]


def test_the_talk_is_kept_by_no_cache(at_home: Client, told: Told) -> None:
    for path in ("", "turns/", "memories/", "settings/"):
        assert "no-store" in at_home.get(f"{told.path}{path}")["Cache-Control"]


@pytest.mark.parametrize("path", ["/", "/accounts/login/", "/accounts/signup/", "/nowhere/"])
def test_pages_forbid_what_they_do_not_need(client: Client, db: None, path: str) -> None:
    policy = client.get(path)["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy


def test_the_page_for_what_went_wrong_needs_nothing() -> None:
    assert "Something went wrong on Kith" in render_to_string("500.html")


def test_while_the_database_is_away_pages_say_so_and_ask_to_wait(alice: User) -> None:
    def refuse(*_: object) -> None:
        raise OperationalError("remaining connection slots are reserved")

    at_home, stranger = Client(raise_request_exception=False), Client(raise_request_exception=False)
    at_home.force_login(alice)
    with connection.execute_wrapper(refuse):
        for answer in (
            at_home.get("/companions/"),
            at_home.get("/accounts/login/"),
            stranger.post("/accounts/login/", {"login": alice.email, "password": "a long one"}),
        ):
            assert answer.status_code == 503
            assert "database is not answering right now" in unescape(answer.content.decode())


def test_while_the_disk_is_full_pages_and_operations_say_that(alice: User, settings: Any) -> None:
    def fail(*_: object) -> None:
        raise OperationalError from DiskFull("could not extend file")

    def refuse(*_: object) -> None:
        raise OperationalError("the database system is shutting down")

    at_home, program = Client(raise_request_exception=False), Client(raise_request_exception=False)
    sentence, token = "The disk of this Kith is full", Token.objects.issue(alice, "laptop")[1]
    at_home.force_login(alice)

    def answers() -> list[str]:
        asked = program.get("/api/v1/companions", headers={"Authorization": f"Bearer {token}"})
        shown = [at_home.get("/companions/"), asked]
        assert [answer.status_code for answer in shown] == [503, 503]
        return [answer.content.decode() for answer in shown]

    def overflow(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")  # as the temporary folder does

    for full in (fail, overflow):
        with connection.execute_wrapper(full):
            assert all(sentence in shown for shown in answers())
    with connection.execute_wrapper(refuse):
        assert not any(sentence in shown for shown in answers())
        settings.KITH_HOME = Path("/proc")  # the database is gone, and this has no room
        assert all(sentence in shown for shown in answers())
