"""What is deleted while a companion wakes, reflects or is woken does not come back, and nobody waits forever."""

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import DatabaseError, IntegrityError, connections
from django.test import Client

from accounts.limits.usage import Payer, charged
from accounts.models import ModelCall, User
from bench.common.past_files import sillytavern
from cards.lorebooks import normalise_book
from companions.deletion import delete_companion, delete_message
from companions.errors import TextError
from companions.life import inner_state, reflection
from companions.life.inner_state import Feeling
from companions.life.timers import timers
from companions.life.wakings import waking
from companions.lore import editing
from companions.models import Companion, InnerState, Lorebook, LoreEntry, Message, Timer, Waking
from companions.replies.lifecycle import start
from memory.core_memory import set_slot
from memory.models.core_memory import By
from providers.tokens import Metered, note
from tests.companions.deletion.conftest import MARKER, NOW, SECRET, say
from tests.companions.everywhere import tables_with
from tests.companions.life.waking import as_it_is, calling, send_due_deliveries
from tests.fixtures import faults
from tests.fixtures.clock import clock_at
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.rest import Api, problem

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("rehearsal")]
LATER = NOW + timedelta(hours=1)
LOCKED = faults.begins('SELECT "companions_companion"."id" AS "pk"')  # the companion's row is locked
POINTS = {  # the statement of a waking, and which one of its kind, before which the deletion begins
    "claimed": (faults.begins('SELECT COUNT(*) AS "__count" FROM "companions_waking"'), 1),
    "started": (LOCKED, 1),
    "prompted": (faults.begins('UPDATE "companions_waking" SET "look_at" = %s, "prompt"'), 1),
    "asked": (faults.ANSWERED, 1),
    "using": (LOCKED, 3),
    "used": (faults.begins('UPDATE "companions_waking" SET "look_at" = %s, "steps"'), 2),
    "answered": (faults.begins('UPDATE "companions_waking" SET "look_at" = %s, "text"'), 1),
    "speaking": (faults.begins('SELECT %s AS "a" FROM "companions_reply"'), 1),
    "said": (faults.begins('INSERT INTO "companions_message"'), 1),
    "ended": (faults.begins('UPDATE "companions_waking" SET "look_at" = NULL'), 1),
}
REFLECTION_POINTS = {
    "gathered": (faults.begins('SELECT COALESCE(SUM(("accounts_modelcall"."prompt_tokens"'), 1),
    "asked": (faults.ANSWERED, 1),
    "writing": (LOCKED, 1),
    "written": (faults.begins('UPDATE "companions_life" SET "reflect_attempts"'), 1),
}
PATIENCE = 60
PAST = sillytavern([(True, "My cat hides under the stove.", None)])


def beside(*deeds: Callable[[], object]) -> list["Future[None]"]:
    """The deeds, begun each in a thread of its own."""
    pool = ThreadPoolExecutor(len(deeds))
    begun = [pool.submit(_done, one) for one in deeds]
    pool.shutdown(wait=False)
    return begun


def _done(deed: Callable[[], object]) -> None:
    try:
        deed()
    finally:
        connections.close_all()


def joined(begun: list["Future[None]"]) -> None:
    """All of them are done; what went wrong in one is raised."""
    for one in begun:
        one.result(PATIENCE)


@contextmanager
def at(point: tuple[faults.Matches, int], deed: Callable[[], object]) -> Iterator[None]:
    """Begin the deed beside, once, before that statement: there may be a lock on which it waits."""
    begun: list[Future[None]] = []

    def begin() -> None:
        begun.extend(beside(deed))
        wait(begun, 0.5)

    with faults.before(point[0], begin, point[1]):
        yield
    joined(begun)


def woken(companion: Companion, message: Message, note: str) -> Waking:
    """A waking that is due, of a timer that was set in answer to the message."""
    given = {"by": Timer.By.COMPANION, "is_asked_for": True, "now": NOW, "message": message}
    timer = timers.set_timer(companion, "1h", note, **given)
    (waking_id,) = timers.begin_wakings([timer.pk], LATER)
    return as_it_is(waking_id)


def acts() -> list[dict[str, Any]]:
    """A waking in which the marked word is put wherever that is possible, and said."""
    calls = [
        ("think", {"text": f"It was {MARKER}."}),
        ("feel", {"text": f"I think of {MARKER}."}),
        ("write_diary", {"title": f"Of {MARKER}", "text": f"Alice opens it with {MARKER}."}),
        ("set_timer", {"schedule": "1d", "text": f"ask about {MARKER}"}),
        ("remember", {"text": f"The locker opens with {MARKER}."}),
    ]
    return [calling(*calls), {"answer": f"Your locker opens with {MARKER}.", "when": "<kith-waking>"}]


@pytest.mark.parametrize("point", POINTS)
def test_a_waking_does_not_bring_back_the_message_that_asked_for_it(
    mira: Companion, rehearsal: RehearsalServer, point: str
) -> None:
    said = say(mira, SECRET, "I will.", "I like tea.", at=NOW)
    rehearsal.script(*acts())
    one = woken(mira, said[0], f"open the locker with {MARKER}")
    with at(POINTS[point], partial(delete_message, said[0], LATER)):
        waking.run(one.pk, clock_at(LATER))
    for hours in (1, 2):
        waking.run(one.pk, clock_at(LATER + timedelta(hours=hours)))
    assert tables_with(MARKER) == {}
    assert as_it_is(one.pk).state in ("done", "skipped")
    states = [state.by for state in InnerState.objects.filter(companion=mira).order_by("number")]
    assert states in (["seed"], ["seed", "deletion"])
    assert not Message.objects.filter(waking=one).exists()


@pytest.mark.parametrize("point", POINTS)
def test_a_waking_that_was_shown_it_happens_all_the_same(
    mira: Companion, rehearsal: RehearsalServer, point: str
) -> None:
    said = say(mira, SECRET, "I will.", "I like tea.", at=NOW)
    set_slot(mira.pk, "locker", f"It is {MARKER}", by=By.COMPANION, now=NOW, source_ids=[said[0].pk])
    if point not in ("claimed", "started"):  # before it is shown the word
        rehearsal.script(*acts()[:1])
    rehearsal.script({"answer": "Good day.", "when": "<kith-waking>"})
    one = woken(mira, said[2], "drink tea")
    with at(POINTS[point], partial(delete_message, said[0], LATER)):
        waking.run(one.pk, clock_at(LATER))
    for hours in (1, 2):
        rehearsal.script({"answer": "Good day.", "when": "<kith-waking>"})
        waking.run(one.pk, clock_at(LATER + timedelta(hours=hours)))
    assert tables_with(MARKER) == {}
    ended = as_it_is(one.pk)
    assert (ended.state, ended.outcome) == ("done", "spoke")
    assert [message.text for message in Message.objects.filter(waking=one)] == ["Good day."]


@pytest.mark.parametrize("point", REFLECTION_POINTS)
def test_a_reflection_does_not_go_on_from_what_is_taken_back(
    mira: Companion, rehearsal: RehearsalServer, point: str
) -> None:
    secret = say(mira, SECRET, "I will.", at=NOW)[0]
    by, told = InnerState.By.REFLECTION, f"Alice told me of {MARKER}."
    inner_state.revise(mira.pk, told, Feeling(), by=by, now=NOW, seen=[secret.pk], until_at=LATER)
    say(mira, *(f"Thing {number}" for number in range(24)), at=LATER + timedelta(minutes=1))
    after = LATER + timedelta(hours=1)
    felt = {"valence": 0.1, "arousal": 0.1, "emotion": "think", "intensity": 0.2}
    answers = [json.dumps({"text": text, **felt}) for text in (f"I like {MARKER}.", "I feel calm.")]
    rehearsal.script(*({"task": "reflection", "answer": one} for one in answers))
    with at(REFLECTION_POINTS[point], partial(delete_message, secret, after)):
        reflection.run(mira.pk, clock_at(after))
    assert tables_with(MARKER) == {}
    if point in ("gathered", "asked", "writing"):
        assert inner_state.get_newest(mira.pk).text == "I feel calm."


def test_nobody_waits_forever_and_nothing_comes_back(
    mira: Companion, tian: Companion, rehearsal: RehearsalServer
) -> None:
    """Ticks, wakings, reflections and deliveries beside deletions, all at the same rows."""
    for companion in (mira, tian):
        companion.life.by_email = True
        companion.life.save()
    said = [say(one, *[SECRET, "I will."] * 6, at=NOW) for one in (mira, tian)]
    for one, messages in zip((mira, tian), said, strict=True):
        for message in messages[::2]:
            given = {"by": Timer.By.COMPANION, "is_asked_for": True, "now": NOW, "message": message}
            timers.set_timer(one, "1h", f"open it with {MARKER}", **given)
    over = threading.Event()

    def again(deed: Callable[[datetime], object]) -> None:
        now = LATER
        while not over.is_set():
            deed(now)
            now += timedelta(seconds=20)

    def wake(now: datetime) -> None:
        for id in waking.find_due(now):
            waking.run(id, clock_at(now))

    def reflect(now: datetime) -> None:
        for one in (mira, tian):
            reflection.run(one.pk, clock_at(now))

    begun = [lambda now: timers.begin_wakings(timers.claim_timers(now, 5), now)] * 2
    at_work = beside(*(partial(again, deed) for deed in (*begun, wake, wake, reflect, send_due_deliveries)))
    deleting = beside(*(partial(_delete_all, messages[::2]) for messages in said))
    try:
        joined(deleting)
    finally:
        over.set()
    joined(at_work)
    assert tables_with(MARKER) == {}
    assert not Timer.objects.active().filter(name="").exists()


def _delete_all(messages: list[Message]) -> None:
    for one in messages:
        delete_message(one, LATER)


@pytest.mark.parametrize("what", ["companion", "account"])
def test_who_is_deleted_while_they_live_leaves_nothing(
    alice: User, mira: Companion, tian: Companion, rehearsal: RehearsalServer, what: str
) -> None:
    message = say(mira, SECRET, "I will.", at=NOW)[0]
    given = {"by": Timer.By.COMPANION, "is_asked_for": True, "now": NOW, "message": message}
    for number in range(20):
        timers.set_timer(mira, "1h", f"{number}: {MARKER}", **{**given, "message": None})
    over = threading.Event()

    def live() -> None:
        now = LATER
        while not over.is_set():
            for id in timers.begin_wakings(timers.claim_timers(now, 3), now):
                waking.run(id, clock_at(now))
            send_due_deliveries(now)
            now += timedelta(seconds=20)

    living = beside(live, live)
    try:
        joined(beside(partial(delete_companion, mira) if what == "companion" else alice.delete))
    finally:
        over.set()
    joined(living)
    assert tables_with(MARKER) == {}
    assert not Waking.objects.exclude(companion=tian).exists()


def test_an_entry_saved_while_its_account_is_deleted_goes_with_it(alice: User) -> None:
    book = editing.make_book(alice, normalise_book({"entries": []}), NOW)

    def save_entry() -> None:
        joined(beside(partial(LoreEntry.objects.create, lorebook=book)))

    with faults.before(faults.begins('DELETE FROM "companions_lorebook"'), save_entry):
        alice.delete()
    assert not User.objects.filter(email=alice.email).exists()
    assert not LoreEntry.objects.exists()


@pytest.mark.parametrize("what", ["companion", "account"])
def test_a_deletion_and_a_call_saved_meanwhile_do_not_wait_for_each_other(
    alice: User, mira: Companion, what: str
) -> None:
    """The call's row refers to the account, the companion and the reply, which are deleted one after the other."""
    reply = start(mira, "Hello", None, NOW).reply
    payer, refused = Payer(alice.pk, mira.pk, reply.pk), []

    def save_call() -> None:
        try:
            with charged(payer, ModelCall.Purpose.ANSWER):
                note(Metered("http://model.example", "quiet", 10, is_estimated=False, milliseconds=1))
        except IntegrityError as error:
            refused.append(error)

    with at((faults.begins('DELETE FROM "companions_companion"'), 1), save_call):
        delete_companion(mira) if what == "companion" else alice.delete()
    assert not Companion.objects.exists()
    assert ModelCall.objects.filter(companion=None).count() == (1 if what == "companion" else 0)
    assert len(refused) == (0 if what == "companion" else 1)


@pytest.mark.parametrize(
    ("method", "path", "body", "code"),
    [
        ("PUT", "/slots/tea", {"text": "Likes tea."}, "not_found"),
        ("POST", "/import/log", {"messages": []}, "no_such_companion"),
        ("POST", "/import/past", PAST, "no_such_companion"),
    ],
)
def test_a_write_to_what_is_deleted_meanwhile_finds_nothing(
    mira: Companion, as_alice: Api, method: str, path: str, body: Any, code: str
) -> None:
    with at((LOCKED, 1), partial(delete_companion, mira)):
        where = f"/companions/{mira.pk}{path}"
        if isinstance(body, bytes):
            answer = as_alice.form(where, {"file": SimpleUploadedFile("past.jsonl", body)})
        else:
            answer = as_alice.call(method, where, body)
    problem(answer, 404, code)


def test_a_message_finds_no_companion_that_was_deleted_meanwhile(mira: Companion) -> None:
    delete_companion(mira)
    with pytest.raises(TextError) as refused:
        start(mira, "Hello", None, NOW)
    assert refused.value.status == 404


def test_a_lorebook_deleted_while_it_is_replaced_is_gone(as_alice: Api, alice: User) -> None:
    """Both lock the book before its entries, so neither is refused as a victim of a deadlock."""
    book = editing.make_book(
        alice, normalise_book({"entries": [{"keys": ["gate"], "content": "Shut."}]}), NOW
    )
    path, answers = f"/lorebooks/{book.pk}", []

    def delete() -> None:
        answers.append(Api(alice).call("DELETE", path).status_code)

    with at((faults.begins('DELETE FROM "companions_loreentry"'), 1), delete):
        replaced = as_alice.call("PUT", path, {"book": {"entries": []}})
    assert (replaced.status_code, answers) == (200, [204])
    assert not Lorebook.objects.exists()


def test_a_version_whose_companion_is_deleted_meanwhile_is_not_restored(
    mira: Companion, as_alice: Api
) -> None:
    path = f"/companions/{mira.pk}"
    as_alice.call("PATCH", path, {"persona": "A friend."})
    version = mira.versions.get()
    with at((LOCKED, 1), partial(delete_companion, mira)):
        problem(as_alice.post(f"{path}/versions/{version.pk}/restore"), 404, "not_found")


def test_a_change_of_what_is_deleted_meanwhile_finds_nothing(
    mira: Companion, alice: User, as_alice: Api, client: Client
) -> None:
    def delete(what: Callable[[], object]) -> None:
        joined(beside(what))

    with faults.before(
        faults.begins('UPDATE "companions_companion"'), partial(delete, partial(delete_companion, mira))
    ):
        answer = as_alice.call("PATCH", f"/companions/{mira.pk}", {"tint": 5})
    problem(answer, 404, "not_found")
    client.force_login(alice)
    with faults.before(faults.begins('UPDATE "accounts_user"'), partial(delete, alice.delete)):
        page = client.post("/settings/profile/", {"name": "Alice", "time_zone": "UTC"})
    assert page.status_code == 404
    assert not User.objects.filter(pk=alice.pk).exists()


def test_who_is_deleted_is_not_saved_again(mira: Companion, alice: User) -> None:
    loaded = Companion.objects.get(pk=mira.pk)
    delete_companion(mira)
    with pytest.raises(DatabaseError):
        loaded.save()
    person = User.objects.get(pk=alice.pk)
    alice.delete()
    with pytest.raises(DatabaseError):
        person.save()
    assert not Companion.objects.exists()
    assert not User.objects.filter(pk=alice.pk).exists()
