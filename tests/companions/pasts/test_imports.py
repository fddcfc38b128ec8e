"""Earlier talk is remembered with its own dates, in its place, once, and on the branches where it was said."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bench.common.past_files import chatgpt, sillytavern
from companions import tasks
from companions.archives.limits import measure_bytes
from companions.branches.alternatives import load_alternatives
from companions.branches.operations import choose, choose_alternative
from companions.conversations.messages import load_path
from companions.errors import LimitError
from companions.models import Branch, Companion, Conversation, Message, PastImport, Session
from companions.pasts import imports
from companions.pasts.imports import Wanted
from companions.pasts.job_progress import measure_progress
from companions.pasts.log_import import Line, import_log
from companions.pasts.plan import Choice
from files.models import StoredFile
from jobs.lease import LEASE_TIME
from memory.embedding import embed_waiting
from memory.models import Memory
from memory.recall.recall import recall
from tests.companions.pasts.files import begin, imported
from tests.companions.talking import say
from tests.fixtures import faults
from tests.fixtures.clock import clock_at

pytestmark = pytest.mark.django_db(transaction=True)
THEN = datetime(2023, 5, 2, 9, tzinfo=UTC)
NOW = datetime(2024, 1, 5, 12, tzinfo=UTC)
LINES = [
    (True, "My cat Plum hides under the stove.", THEN),
    (False, "Then the stove must be off.", THEN + timedelta(minutes=1)),
    (True, "I start at the harbour office on Monday.", THEN + timedelta(days=1)),
    (False, "Wear the blue coat.", THEN + timedelta(days=1, minutes=1)),
]


def told(companion: Companion) -> list[tuple[str, str, datetime]]:
    """The chosen path from its first message on."""
    conversation = Conversation.objects.get(companion=companion)
    path = load_path(conversation, conversation.head_id, 100_000)[::-1]
    return [(message.role, message.text, message.said_at) for message in path]


def texts(companion: Companion) -> list[str]:
    return [text for _, text, _ in told(companion)]


def remembered(companion: Companion) -> list[Any]:
    memories = Memory.objects.filter(companion=companion, kind="said").order_by("happened_at", "id")
    return list(memories.values_list("speaker", "text", "happened_at"))


def test_a_past_stands_with_its_dates_before_what_was_said_here_and_comes_to_mind(mira: Companion) -> None:
    say(mira, "Good morning.", "Good morning to you.", at=NOW - timedelta(hours=1))
    here = texts(mira)
    past = imported(mira, sillytavern(LINES), NOW)
    assert told(mira)[:4] == [
        ("user" if is_person else "assistant", text, at) for is_person, text, at in LINES
    ]
    assert texts(mira)[4:] == here
    assert (past.state, past.messages_count, past.first_at, past.last_at) == ("done", 4, THEN, LINES[3][2])
    assert not StoredFile.objects.exists()
    assert Session.objects.filter(messages__job=past.job, ended_at__isnull=False).distinct().count() == 2
    embed_waiting(mira.pk)
    assert measure_progress(past.job) == ("done", 4)
    found = recall(mira.pk, "Where does the cat hide?", 1, now=NOW, zone=UTC)
    assert [one.memory.text for one in found] == [LINES[0][1]]


@pytest.mark.parametrize("make", [sillytavern, chatgpt])
def test_a_file_leaves_the_same_memories_as_the_log_of_the_same_talk(
    mira: Companion, tian: Companion, make: Any
) -> None:
    lines = [
        (
            turn % 2 == 0,
            f"Turn {turn} of session {session}.",
            THEN + timedelta(days=session * 9, minutes=turn),
        )
        for session in range(5)
        for turn in range(8)
    ]
    log = [Line(role="user" if is_person else "assistant", text=text, at=at) for is_person, text, at in lines]
    import_log(tian, log, NOW)
    imported(mira, make(lines), NOW)
    assert remembered(mira) == remembered(tian)
    assert told(mira) == told(tian)


def test_what_was_not_chosen_is_an_alternative_that_is_known_only_where_it_is_chosen(mira: Companion) -> None:
    imported(mira, sillytavern(LINES, {1: ["Plum is wise.", "Cats know."]}), NOW)
    assert texts(mira) == [text for _, text, _ in LINES]
    assert "Plum is wise." not in [text for _, text, _ in remembered(mira)]
    answer = Message.objects.get(text=LINES[1][1])
    assert load_alternatives([answer])[answer.pk].count == 3
    other = Message.everywhere.get(text="Plum is wise.")
    choose_alternative(other, NOW)
    assert texts(mira) == [LINES[0][1], "Plum is wise."]
    assert [text for _, text, _ in remembered(mira)] == [LINES[0][1], "Plum is wise."]
    choose_alternative(answer, NOW)
    assert texts(mira) == [text for _, text, _ in LINES]


def test_a_way_that_went_on_is_a_branch_beside_the_leaf_that_was_chosen(mira: Companion) -> None:
    imported(mira, chatgpt(LINES, {2: ["I was offered the lighthouse.", "Take it.", "I will."]}), NOW)
    assert texts(mira) == [text for _, text, _ in LINES]
    branch = Branch.objects.get(head__text="I will.")
    assert Branch.objects.count() == 2
    choose(branch, NOW)
    assert texts(mira) == [LINES[0][1], LINES[1][1], "I was offered the lighthouse.", "Take it.", "I will."]
    choose(Branch.objects.exclude(pk=branch.pk).get(), NOW)
    assert texts(mira) == [text for _, text, _ in LINES]


def test_the_same_file_again_adds_nothing_and_a_longer_one_what_is_new(mira: Companion) -> None:
    imported(mira, sillytavern(LINES[:2]), NOW)
    again = imported(mira, sillytavern(LINES[:2]), NOW)
    assert (again.messages_count, again.skipped_count) == (0, 2)
    longer = imported(mira, sillytavern(LINES), NOW)
    assert (longer.messages_count, longer.skipped_count) == (2, 2)
    elsewhere = imported(mira, chatgpt(LINES), NOW)  # the same talk, in another program's file
    assert (elsewhere.messages_count, elsewhere.skipped_count) == (0, 4)
    assert texts(mira) == [text for _, text, _ in LINES]
    assert Memory.objects.filter(kind="said").count() == 4


def test_what_bears_no_time_lies_a_minute_apart_before_the_first_message(mira: Companion) -> None:
    say(mira, "Good morning.", at=NOW - timedelta(hours=1))
    first = Message.objects.earliest("said_at").said_at
    imported(mira, sillytavern([(is_person, text, None) for is_person, text, _ in LINES]), NOW)
    assert [at for _, _, at in told(mira)][:4] == [first - timedelta(minutes=left) for left in (4, 3, 2, 1)]


def test_the_person_is_whom_they_say_they_are(mira: Companion) -> None:
    wanted = Wanted(choice=Choice(person="Odo"))
    imported(mira, sillytavern(LINES), NOW, wanted)
    assert [role for role, _, _ in told(mira)] == ["assistant", "user", "assistant", "user"]
    assert list(Message.objects.order_by("said_at").values_list("author", flat=True)) == ["Mira", "Alice"] * 2


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ('INSERT INTO "companions_message"', 1),
        ('INSERT INTO "companions_message"', 2),
        ('INSERT INTO "companions_message"', 3),
        ('UPDATE "companions_conversation"', 2),
        ('INSERT INTO "companions_branch"', 2),
        ('UPDATE "companions_pastimport" SET "file_id"', 1),
    ],
)
def test_an_import_that_is_killed_anywhere_goes_on_and_doubles_nothing(
    mira: Companion, statement: str, number: int
) -> None:
    content = chatgpt(LINES, {2: ["I was offered the lighthouse.", "Take it."]})
    past = begin(mira, content, NOW)
    with faults.killed(faults.begins(statement), number):
        imports.run(past.pk, clock_at(NOW), batch=2)
    assert imports.find_due(PastImport.State.WAITING, NOW + LEASE_TIME) == [past.pk]
    imports.run(past.pk, clock_at(NOW + LEASE_TIME), batch=2)
    past.refresh_from_db()
    assert past.state == PastImport.State.DONE
    assert texts(mira) == [text for _, text, _ in LINES]
    assert Message.everywhere.filter(job=past.job).count() == Memory.everywhere.count() == 6
    assert Branch.objects.count() == 2


def test_two_pasts_of_the_same_weeks_stand_in_the_order_of_time(mira: Companion) -> None:
    imported(mira, sillytavern(LINES[:2]), NOW)
    between = [(True, "The kettle sings.", THEN + timedelta(seconds=30))]
    imported(mira, sillytavern(between), NOW)
    assert texts(mira) == [LINES[0][1], "The kettle sings.", LINES[1][1]]


def test_what_is_still_coming_in_counts_for_how_much_a_companion_can_hold(
    mira: Companion, settings: Any
) -> None:
    settings.MESSAGES_EACH = 6
    past = begin(mira, sillytavern(LINES), NOW)
    more = sillytavern([(is_person, f"{text} Again.", at) for is_person, text, at in LINES])
    with pytest.raises(LimitError):
        begin(mira, more, NOW)
    with pytest.raises(LimitError):
        import_log(mira, [Line(role="user", text=f"Line {n}.", at=THEN) for n in range(3)], NOW)
    imports.run(past.pk, clock_at(NOW), batch=3)
    imported(mira, sillytavern([(True, "Two of them fit.", THEN), (False, "They do.", THEN)]), NOW)
    assert Message.objects.filter(companion=mira).count() == 6


def test_a_talk_that_stands_twice_in_its_file_comes_once(mira: Companion) -> None:
    twice = json.dumps(json.loads(chatgpt(LINES, {2: ["Or not.", "As you like."]})) * 2).encode()
    past = imported(mira, twice, NOW)
    assert past.messages_count == Message.everywhere.filter(companion=mira).count() == 6
    assert texts(mira) == [text for _, text, _ in LINES]


def test_a_past_whose_file_is_lost_has_failed_after_eight_tries_and_its_job_says_why(mira: Companion) -> None:
    past = begin(mira, sillytavern(LINES), NOW)
    StoredFile.objects.filter(pk=past.file_id).delete()
    for day in range(8):
        past.refresh_from_db()
        assert past.state == PastImport.State.WAITING
        imports.run(past.pk, clock_at(NOW + timedelta(days=day)))
    past.refresh_from_db()
    assert (past.state, past.attempts, past.error) == (PastImport.State.FAILED, 8, "no_file")
    past.job.refresh_from_db()
    assert measure_progress(past.job) == ("failed", 0)


def test_no_more_is_imported_than_the_storage_of_each_person(
    mira: Companion, tian: Companion, settings: Any
) -> None:
    settings.COMPANION_BYTES_EACH = measure_bytes(mira.user) + 10_000
    imported(mira, sillytavern(LINES), NOW)
    other = [(is_person, f"{text} Again." * 100, at) for is_person, text, at in LINES]
    with pytest.raises(LimitError) as told:
        begin(mira, sillytavern(other), NOW)
    assert told.value.code == "no_storage"
    with pytest.raises(LimitError):
        import_log(mira, [Line(role="user", text="x" * 9_000, at=NOW)], NOW)
    assert len(texts(mira)) == len(LINES)


def test_what_was_begun_while_there_was_room_may_find_none(mira: Companion, settings: Any) -> None:
    past = begin(mira, sillytavern(LINES), NOW)
    settings.COMPANION_BYTES_EACH = measure_bytes(mira.user)
    imports.run(past.pk, clock_at(NOW))
    past.refresh_from_db()
    assert (past.state, past.error, texts(mira)) == ("waiting", "no_storage", [])


def test_a_person_has_one_long_task_at_a_time(mira: Companion, tian: Companion) -> None:
    past = begin(mira, sillytavern(LINES), NOW)
    with tasks.LONG.take(mira.user_id):
        tasks.import_past(str(past.pk))
        assert texts(mira) == []
    tasks.import_past(str(past.pk))
    assert texts(mira) == [text for _, text, _ in LINES]
