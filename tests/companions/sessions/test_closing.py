"""A session ends once, whole, or not at all: whatever is killed, asked twice, or deleted meanwhile."""

import json
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from accounts.models import ModelCall
from companions.deletion import delete_message, forget
from companions.memories.editing import set_private
from companions.models import Closing, Companion, InnerState, Job, Message, Session
from companions.sessions import diary_rewrite
from companions.sessions.closing import find_due, run
from companions.sessions.requests import close
from companions.sessions.transcript import find_names
from jobs.lease import LEASE_TIME, MAX_ATTEMPTS
from memory.embedding import embed_waiting
from memory.models import DiaryEntry, Learning, Memory, Revision, Thread
from memory.store import keep_fact
from providers.rehearsal.prompt import find_task
from tests.companions.sessions.conftest import GARDEN, MORNING, TEA, Talk, ask_to_close, closed
from tests.fixtures import faults
from tests.fixtures.clock import clock_at
from tests.fixtures.malformed import GOOD, LEARNT, PARTLY, SOME, Step
from tests.fixtures.rehearsal import RehearsalServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("rehearsal")]
NOON = MORNING + timedelta(hours=3)
UPDATES = faults.begins('UPDATE "companions_closing"')
HOLDS = faults.begins('SELECT "companions_closing"."companion_id"')
POINTS = {  # the statement of a closing, and which one of its kind, before which it is killed or something is deleted
    "claimed": (HOLDS, 1),
    "gathered": (UPDATES, 3),
    "asked for the diary": (faults.ANSWERED, 1),
    "keeping the diary": (UPDATES, 4),
    "diary kept": (UPDATES, 5),
    "asked for facts": (faults.ANSWERED, 2),
    "asked to understand": (faults.ANSWERED, 3),
    "asked to read again": (faults.ANSWERED, 4),
    "drafted": (HOLDS, 6),
    "writing": (faults.begins('INSERT INTO "memory_learning"'), 1),
    "learnt": (faults.begins('UPDATE "companions_message" SET "is_learnt"'), 1),
    "kept": (faults.begins('UPDATE "companions_session"'), 1),
    "written": (UPDATES, 11),
}


def everything(companion: Companion) -> list[Any]:
    """All that a closing writes, as values that are the same from run to run."""
    return [
        list(DiaryEntry.objects.values("title", "sentences", "emotion", "session__title")),
        list(Revision.objects.order_by("about", "number").values("about", "number", "sentences")),
        sorted(Memory.objects.exclude(kind="said").values_list("kind", "text", "evidence", "closed_at")),
        list(Learning.objects.values_list("messages", flat=True)),
        sorted(Message.objects.values_list("text", "is_learnt")),
        list(Session.objects.order_by("started_at").values("started_at", "ended_at", "title")),
        list(Closing.objects.values("state", "drafts")),
    ]


def test_a_closed_session_leaves_a_diary_entry_that_leads_back_to_what_was_said(
    mira: Companion, talk: Talk
) -> None:
    messages = talk(mira, *TEA)
    closing = closed(mira, NOON)
    entry = DiaryEntry.objects.get()
    assert (closing.state, closing.drafts) == ("done", {})
    assert entry.session == closing.session
    assert (entry.started_at, entry.ended_at) == (messages[0].said_at, messages[-1].said_at)
    assert entry.title == closing.session.title != ""
    sources = {source for one in entry.sentences for source in one["sources"]}
    assert sources <= {str(one.pk) for one in messages}
    assert all(one["sources"] for one in entry.sentences)
    assert entry.memory is not None
    assert entry.memory.kind == "diary"
    assert {str(one.pk) for one in entry.memory.sources.all()} == sources
    assert entry.call is not None
    assert entry.call.purpose == "closing"
    assert Message.objects.filter(session=closing.session, is_learnt=True).count() == len(TEA)
    assert Session.objects.filter(ended_at=None).count() == 0
    assert ModelCall.objects.filter(purpose__in=["closing", "learning"]).count() == 4


def test_the_diary_comes_to_mind_by_its_meaning(mira: Companion, talk: Talk) -> None:
    talk(mira, *TEA)
    closed(mira, NOON)
    embed_waiting(mira.pk)
    assert DiaryEntry.objects.get().memory.embeddings.exists()  # type: ignore[union-attr]


def test_what_a_diary_copies_from_what_it_was_shown_is_not_kept(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    """A small model gives back the persona, or the rules' own words, or refuses."""
    talk(mira, *TEA)
    copied = [
        {"text": "Mira is calm and curious.", "sources": [1]},
        {"text": "what the two of you talked about, what it meant to you", "sources": [1]},
        {"text": "I'm sorry, but I cannot write a diary as an AI language model.", "sources": []},
    ]
    diary = {"title": "a few words that tell this session from others", "diary": copied}
    rehearsal.script({"task": "diary", "answer": json.dumps(diary)})
    closing_id = ask_to_close(mira, NOON)
    run(closing_id, clock_at(NOON))
    assert Closing.objects.get().error == "malformed_answer"
    edits = {"self_concept": [], "user_profile": [{"text": "in the third person of Alice", "sources": [1]}]}
    rehearsal.script({"task": "understanding", "answer": json.dumps(edits)})
    told = [{"text": "I heard of green tea.", "sources": [3]}]
    rehearsal.script({"task": "diary", "answer": json.dumps(diary | {"diary": [*copied, *told]})})
    run(closing_id, clock_at(NOON + timedelta(hours=1)))
    entry = DiaryEntry.objects.get()
    assert [sentence["text"] for sentence in entry.sentences] == ["I heard of green tea."]
    assert entry.memory is not None
    assert entry.title == entry.memory.text == "I heard of green tea."
    assert not Revision.objects.exists()


@pytest.mark.parametrize(
    ("told", "name", "moved"),
    [
        ("Hi! My name is Ana, and I work in Faro.", "Ana", "I have moved to Lagos."),
        ("我叫林晓，在苏州当老师。", "林晓", "我搬到了杭州。"),
    ],
)
def test_a_user_without_a_name_is_called_by_the_one_with_which_they_introduced_themselves(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer, told: str, name: str, moved: str
) -> None:
    """Or a later talk would not tell whom the known facts are about, and the diary would speak of "the user"."""
    mira.user.name = ""
    mira.user.save()
    talk(mira, told, "Hello!")
    closed(mira, NOON)
    talk(mira, moved, "Is it by the sea?", at=NOON + timedelta(days=1))
    felt = {"text": f"I think of {name}.", "valence": 0.1, "arousal": 0, "emotion": "happy", "intensity": 0.2}
    diary = {"title": "", "diary": [{"text": f"I heard from {name}.", "sources": [1]}], "inner_state": felt}
    rehearsal.script({"task": "diary", "answer": json.dumps(diary)})
    closed(mira, NOON + timedelta(days=2))
    asked = [request for request in rehearsal.requests() if moved in str(request["messages"][-1]["content"])]
    assert {find_task(request) for request in asked} >= {"diary", "facts", "verification"}
    for request in asked:
        system, material = (str(message["content"]) for message in request["messages"])
        assert f"{name} (user): " in material
        assert name in system
    newest = InnerState.objects.latest("number")
    assert newest.text == felt["text"]


def test_a_name_in_a_message_that_is_hidden_is_not_told(mira: Companion, talk: Talk) -> None:
    mira.user.name = ""
    mira.user.save()
    talk(mira, "My name is Ana, and I work in Faro.", "Hello!")
    assert find_names(mira)["user"] == "Ana"
    Message.objects.filter(text__contains="Ana").update(is_hidden=True)
    assert find_names(mira)["user"] == ""


def test_both_sides_words_are_in_what_the_model_is_asked(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    """DigitalLife's trap: the companion's own replies never reached the summary."""
    talk(mira, *TEA)
    closed(mira, NOON)
    for request in rehearsal.requests():
        asked = str(request["messages"][-1]["content"])
        assert all(text in asked for text in TEA)
        assert "Alice (user)" in asked
        assert "Mira (companion)" in asked


def test_a_diary_entry_that_is_kept_from_models_is_not_the_one_to_go_on_from(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    talk(mira, *TEA)
    closed(mira, NOON)
    entry = DiaryEntry.objects.select_related("memory").get()
    set_private(entry.memory, True, NOON)
    talk(mira, *GARDEN, at=NOON + timedelta(days=1))
    closed(mira, NOON + timedelta(days=2))
    asked = [json.dumps(request["messages"]) for request in rehearsal.requests()]
    diaries = [text for text in asked if "Task: diary" in text]
    assert len(diaries) == 2
    assert "<kith-before>" not in diaries[-1]


def test_a_diary_goes_on_from_the_page_of_an_evening_that_told_of_the_talk(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    message, at = talk(mira, *TEA)[0], NOON - timedelta(minutes=1)
    session = message.session
    Session.objects.filter(pk=session.pk).update(started_at=message.said_at)
    evening = Session.objects.create(
        companion=mira, conversation=session.conversation, started_at=at, ended_at=at
    )
    told = [{"text": "Alice and her tea.", "sources": []}]
    DiaryEntry.objects.create(
        companion=mira, session=evening, sentences=told, started_at=at, ended_at=at, made_at=at
    )
    closed(mira, NOON)
    asked = [str(request["messages"]) for request in rehearsal.requests()]
    [diary] = [text for text in asked if "Task: diary" in text]
    assert "Alice and her tea." in diary


def test_what_is_hidden_or_replaced_is_not_shown_to_the_model(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    messages = talk(mira, *TEA)
    Message.objects.filter(pk=messages[0].pk).update(is_hidden=True)
    Memory.objects.filter(message=messages[1]).update(closed_at=NOON)
    closed(mira, NOON)
    asked = str(rehearsal.requests()[-1]["messages"])
    assert TEA[0] not in asked
    assert TEA[1] not in asked
    assert TEA[2] in asked


@pytest.mark.parametrize("point", POINTS)
def test_a_closing_killed_at_any_point_ends_with_one_diary_entry_and_no_loss(
    mira: Companion, talk: Talk, point: str, rehearsal: RehearsalServer
) -> None:
    talk(mira, *TEA)
    closing_id = ask_to_close(mira, NOON)
    with faults.killed(*POINTS[point]):
        run(closing_id, clock_at(NOON))
    assert DiaryEntry.objects.count() == Learning.objects.count() == Revision.objects.count() == 0
    assert Session.objects.get().ended_at is None
    run(closing_id, clock_at(NOON + timedelta(minutes=1)))  # whoever was killed may still be at it
    assert DiaryEntry.objects.count() == 0
    assert find_due(NOON + LEASE_TIME) == [closing_id]
    run(closing_id, clock_at(NOON + LEASE_TIME))
    assert DiaryEntry.objects.count() == Learning.objects.count() == 1
    assert Message.objects.filter(is_learnt=True).count() == len(TEA)
    asked_again = point.startswith(("asked", "keeping"))
    assert len(rehearsal.requests()) == (5 if asked_again else 4)
    after = everything(mira)
    run(closing_id, clock_at(NOON + 2 * LEASE_TIME))
    assert everything(mira) == after


def test_a_killed_closing_ends_as_one_that_was_not(mira: Companion, tian: Companion, talk: Talk) -> None:
    def told(companion: Companion) -> list[Any]:
        return sorted(companion.memories.exclude(kind="said").values_list("kind", "text"))

    for companion in (mira, tian):
        companion.user.name, companion.name = "Alice", "Mira"
        companion.user.save()
        companion.save()
        talk(companion, *TEA)
    closed(mira, NOON)
    closing_id = ask_to_close(tian, NOON)
    begun = ["claimed", "gathered", "asked for the diary", "keeping the diary"]
    for number, point in enumerate(begun):
        with faults.killed(*POINTS[point]):
            run(closing_id, clock_at(NOON + number * LEASE_TIME))
    for number, answer in enumerate((2, 2, 1)):  # of what is left: facts, what the two are, a second reading
        with faults.killed(faults.ANSWERED, answer):
            run(closing_id, clock_at(NOON + (len(begun) + number) * LEASE_TIME))
    for number, point in enumerate(["writing", "learnt", "kept"], start=len(begun) + 3):
        with faults.killed(POINTS[point][0]):
            run(closing_id, clock_at(NOON + number * LEASE_TIME))
    run(closing_id, clock_at(NOON + len(POINTS) * LEASE_TIME))
    assert told(mira) == told(tian) != []


def test_two_closings_at_once_are_one(mira: Companion, talk: Talk) -> None:
    talk(mira, *TEA)
    first, second = close(mira, NOON), close(mira, NOON)
    assert first == second
    assert Closing.objects.count() == Job.objects.count() == 1
    run(Closing.objects.get().pk, clock_at(NOON))
    run(Closing.objects.get().pk, clock_at(NOON))
    assert DiaryEntry.objects.count() == 1
    assert close(mira, NOON) != first  # nothing is open any more
    assert Closing.objects.count() == 1


def test_a_session_in_which_nothing_was_said_ends_at_once(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    close(mira, NOON)
    assert Closing.objects.count() == 0
    assert Session.objects.get().ended_at == NOON
    assert rehearsal.requests() == []


def test_what_is_said_after_the_asking_begins_the_next_session(mira: Companion, talk: Talk) -> None:
    talk(mira, *TEA)
    closing_id = ask_to_close(mira, NOON)
    later = talk(mira, *GARDEN, at=NOON + timedelta(minutes=1))
    run(closing_id, clock_at(NOON + timedelta(minutes=9)))
    fresh = Session.objects.get(ended_at=None)
    assert fresh.started_at == later[0].said_at
    assert set(fresh.messages.values_list("pk", flat=True)) == {one.pk for one in later}
    assert not fresh.messages.filter(is_learnt=True).exists()
    assert "Rufus" not in DiaryEntry.objects.get().summary


def test_an_answer_under_way_is_waited_for(mira: Companion, talk: Talk, rehearsal: RehearsalServer) -> None:
    from companions.replies.lifecycle import start

    talk(mira, *TEA)
    started = start(mira, "And my cat is called Minka.", None, NOON)
    closing_id = ask_to_close(mira, NOON)
    run(closing_id, clock_at(NOON))
    assert (Closing.objects.get().state, Closing.objects.get().attempts) == ("waiting", 0)
    assert rehearsal.requests() == []
    started.reply.state = "failed"
    started.reply.save()
    run(closing_id, clock_at(NOON + LEASE_TIME))
    assert Closing.objects.get().state == "done"


# -- deletion meanwhile ---------------------------------------------------------------------------------------------


DELETED_AT = [
    *("gathered", "asked for the diary", "asked for facts", "asked to understand", "asked to read again"),
    "drafted",
]


@pytest.mark.parametrize("point", DELETED_AT)
def test_a_message_deleted_while_closing_runs_stays_deleted(mira: Companion, talk: Talk, point: str) -> None:
    messages = talk(mira, *TEA, *GARDEN)
    closing_id = ask_to_close(mira, NOON)
    with faults.before(POINTS[point][0], partial(delete_message, messages[4], NOON), POINTS[point][1]):
        run(closing_id, clock_at(NOON))
    assert Closing.objects.get().state == "done"
    entry = DiaryEntry.objects.get()
    written = str([*Memory.objects.values_list("text", "quotes"), *Revision.objects.values_list("sentences")])
    assert "7 years" not in written + entry.summary + entry.title + str(entry.sentences)
    assert "Lisbon" in written + entry.summary


def test_a_known_memory_forgotten_while_closing_runs_is_not_reinforced(mira: Companion, talk: Talk) -> None:
    talk(mira, *TEA)
    closed(mira, NOON)
    embed_waiting(mira.pk)
    learnt = [one for one in Memory.objects.filter(sources__isnull=False) if one.kind != "diary"]
    talk(mira, *TEA, at=NOON + timedelta(hours=1))
    closing_id = ask_to_close(mira, NOON + timedelta(hours=2))
    with faults.before(HOLDS, partial(forget, learnt[0], NOON), 3):
        run(closing_id, clock_at(NOON + timedelta(hours=2)))
    assert Closing.objects.filter(state="done").count() == 2
    assert not Memory.objects.filter(pk=learnt[0].pk).exists()


def test_everything_deleted_while_closing_runs_leaves_nothing_to_tell(mira: Companion, talk: Talk) -> None:
    messages = talk(mira, *TEA)
    closing_id = ask_to_close(mira, NOON)

    def wipe() -> None:
        for message in reversed(messages):
            delete_message(message, NOON)

    with faults.before(faults.ANSWERED, wipe):
        run(closing_id, clock_at(NOON))
    assert Closing.objects.get().state == "done"
    assert DiaryEntry.objects.count() == Memory.objects.count() == Revision.objects.count() == 0


# -- without remembering ----------------------------------------------------------------------------------------------


def test_clearing_without_remembering_asks_no_model_and_leaves_nothing(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    talk(mira, *TEA)
    closing_id = ask_to_close(mira, NOON, is_forgetful=True)
    kept = talk(mira, *GARDEN, at=NOON + timedelta(minutes=1))
    run(closing_id, clock_at(NOON))
    assert set(Message.objects.values_list("pk", flat=True)) == {one.pk for one in kept}
    assert Memory.objects.count() == len(kept)
    assert DiaryEntry.objects.count() == Revision.objects.count() == Learning.objects.count() == 0
    assert rehearsal.requests() == []
    assert Session.objects.filter(ended_at=None).count() == 1


def test_a_waiting_closing_turns_forgetful_even_while_the_model_is_asked(mira: Companion, talk: Talk) -> None:
    talk(mira, *TEA)
    closing_id = ask_to_close(mira, NOON)
    with faults.before(faults.ANSWERED, lambda: close(mira, NOON, is_forgetful=True)):
        run(closing_id, clock_at(NOON))
    assert Closing.objects.get().state == "done"
    assert DiaryEntry.objects.count() == Message.objects.count() == Memory.objects.count() == 0


# -- a model that answers nonsense -------------------------------------------------------------------------------------


def test_nonsense_leaves_the_session_open_until_a_good_answer_closes_it(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    talk(mira, *TEA)
    rehearsal.script({"task": "diary", "answer": "I would rather not."})
    closing = closed(mira, NOON)
    assert (closing.state, closing.attempts, closing.error) == ("waiting", 1, "malformed_answer")
    assert closing.next_at == NOON + timedelta(minutes=2)
    assert Session.objects.get().ended_at is None
    assert DiaryEntry.objects.count() == Learning.objects.count() == Revision.objects.count() == 0
    run(closing.pk, clock_at(NOON + timedelta(minutes=1)))
    assert Closing.objects.get().attempts == 1
    run(closing.pk, clock_at(NOON + timedelta(minutes=2)))
    assert Closing.objects.get().state == "done"
    assert DiaryEntry.objects.count() == 1


ODD_MEMORIES = [  # the odd one of each answer in which one memory is out of form
    memories[0]
    for name, step in PARTLY.items()
    if not name.startswith("cut") and "answer" in step
    for memories in [json.loads(step["answer"])["memories"]]
    if isinstance(memories, list) and memories[:1] not in ([], [LEARNT])
]
# One answer of each way to fail at the first question, and of each question a failure and what is partly in form;
# how all of them are read is tested with `ask`.
ENDINGS: list[tuple[str, Step]] = [
    *(
        ("diary", SOME[name])
        for name in ("English prose", "a server's failure", "a refused request", "withheld")
    ),
    *(("diary", SOME[name]) for name in ("a key twice", "no diary", "moods beyond all bounds")),
    *(("facts", SOME[name]) for name in ("a cut stream", "cut within a memory", "a thousand memories")),
    ("facts", {"answer": json.dumps(GOOD | {"memories": [*ODD_MEMORIES, LEARNT]})}),
    *(("understanding", SOME[name]) for name in ("a cut stream", "a hundred sentences")),
    ("understanding", SOME["a sentence that keeps what is not there"]),
    *(("verification", SOME[name]) for name in ("English prose", "a cut stream")),
]


@pytest.mark.parametrize(("task", "answer"), ENDINGS)
def test_whatever_the_model_answers_a_session_ends_whole_or_stays_open(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer, answer: Step, task: str
) -> None:
    talk(mira, *TEA)
    rehearsal.script({"repeat": 1, **answer, "task": task})
    closing = closed(mira, NOON)
    if closing.state == "waiting":
        assert closing.attempts == 1
        assert closing.error in {
            "malformed_answer",
            "provider_unavailable",
            "answer_unfinished",
            "provider_refused",
            "answer_withheld",
        }
        parts = ["diary", "facts", "understanding", "verification"]
        assert list(closing.drafts) == parts[: parts.index(task)]
        assert Session.objects.get().ended_at is None
        assert DiaryEntry.objects.count() == Learning.objects.count() == Revision.objects.count() == 0
        assert not Memory.objects.exclude(kind="said").exists()
        assert not Message.objects.filter(is_learnt=True).exists()
        run(closing.pk, clock_at(closing.next_at))
    assert Closing.objects.get().state == "done"
    entry = DiaryEntry.objects.get()
    assert entry.sentences
    assert all(one["sources"] for one in entry.sentences)
    assert all(len(one.sentences) <= 20 for one in Revision.objects.all())


JOKE = (
    "I leave my school in January! No, that was a joke of his.",
    "Ha. I like your jokes.",
    "I have a cat called Pixel. And how is your brother, the sailor?",
    "A fine name. He is at sea, I suppose!",
)
LEAVES, CAT = "Alice leaves her school in January.", "Alice has a cat called Pixel."


def script_joke(rehearsal: RehearsalServer, *words: str) -> None:
    """Script an ending: two facts, a diary, and edits; `words` are what a second reading says of all, in their order."""
    facts = [
        {"text": LEAVES, "sources": [1], "quotes": ["I leave my school in January"]},
        {"text": CAT, "sources": [3], "quotes": ["I have a cat called Pixel"]},
    ]
    own = [
        {"do": "add", "text": "I like the jokes of Alice.", "sources": [2]},
        {"do": "add", "text": "I have a friend who is a sailor.", "sources": [3]},
    ]
    theirs = [{"do": "add", "text": text, "sources": [1, 3]} for text in (LEAVES, CAT)]
    diary = [{"text": "Alice told me of her cat.", "sources": [3]}]
    answers = {
        "facts": {"memories": facts},
        "diary": {"title": "Leaving the school", "diary": diary},
        "verification": {"answers": {str(number): word for number, word in enumerate(words, start=1)}},
        "understanding": {"self_concept": own, "user_profile": theirs},
    }
    rehearsal.script(*({"task": task, "answer": json.dumps(answer)} for task, answer in answers.items()))


@pytest.mark.parametrize("title", ["The storm", "A letter to Estarreja", "Zwölf Katzen: 12"])
def test_a_title_that_tells_what_nobody_said_is_not_kept(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer, title: str
) -> None:
    talk(mira, *JOKE)
    diary = [{"text": "Alice told me of her cat.", "sources": [3]}]
    rehearsal.script({"task": "diary", "answer": json.dumps({"title": title, "diary": diary})})
    assert closed(mira, NOON).state == "done"
    assert DiaryEntry.objects.get().title == "Alice told me of her cat."


def test_what_the_person_says_of_themselves_is_no_diary(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    talk(mira, "I teach chemistry in Porto.", "Oh, in Porto!")
    texts = ["Alice teaches chemistry in Porto.", "I teach chemistry in Porto."]
    diary = [{"text": text, "sources": [1]} for text in texts]
    rehearsal.script({"task": "diary", "answer": json.dumps({"title": "Porto", "diary": diary})})
    assert closed(mira, NOON).state == "done"
    assert [sentence["text"] for sentence in DiaryEntry.objects.get().sentences] == texts[:1]


def test_all_that_is_kept_of_a_session_is_read_a_second_time(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    talk(mira, *JOKE)
    script_joke(rehearsal, "joke", "yes", "yes", "not said", "yes", "joke", "yes")
    assert closed(mira, NOON).state == "done"
    asked = str(rehearsal.requests()[-1]["messages"][-1]["content"])
    assert '5. self: "I like the jokes of Alice." <- [2]' in asked
    assert f'6. profile: "{LEAVES}" <- [1], [3]' in asked
    assert DiaryEntry.objects.get().title == "Alice told me of her cat."
    assert Memory.objects.exclude(kind__in=["said", "diary"]).get().text == CAT
    own, theirs = Revision.objects.order_by("about")
    assert [sentence["text"] for sentence in own.sentences] == ["I like the jokes of Alice."]
    assert [sentence["text"] for sentence in theirs.sentences] == [CAT]


@pytest.mark.parametrize(("word", "texts"), [("over", []), ("yes", ["Alice teaches at a school."])])
def test_a_sentence_is_dropped_only_where_a_second_reading_finds_it_over(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer, word: str, texts: list[str]
) -> None:
    known = [{"text": "Alice teaches at a school.", "sources": []}]
    about = Revision.About.USER_PROFILE
    Revision.objects.create(
        companion=mira, about=about, number=1, sentences=known, by="closing", made_at=MORNING
    )
    talk(mira, "I have left my school.", "Oh!")
    left = {"text": "Alice has left her school.", "sources": [1]}
    drop = {"do": "drop", "number": 1, "sources": [1]}
    answers = {
        "facts": {"memories": [{**left, "quotes": ["I have left my school"]}]},
        "diary": {"title": "Alice's school", "diary": [left]},
        "understanding": {"self_concept": [], "user_profile": [drop]},
        "verification": {"answers": {"1": "yes", "2": "yes", "3": "yes", "4": word}},
    }
    rehearsal.script(*({"task": task, "answer": json.dumps(answer)} for task, answer in answers.items()))
    assert closed(mira, NOON).state == "done"
    asked = str(rehearsal.requests()[-1]["messages"][-1]["content"])
    assert '4. earlier: "Alice teaches at a school." <- [1]' in asked
    newest = Revision.objects.filter(about=about).order_by("-number").first()
    assert newest
    assert [sentence["text"] for sentence in newest.sentences] == texts


def test_a_plan_whose_day_is_past_leaves_the_profile_although_nobody_speaks_of_it(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    exam = {"text": "Alice has an exam on 2023-05-10.", "sources": [1]}
    first = {"self_concept": [], "user_profile": [{"do": "add", **exam}]}
    then = {"self_concept": [], "user_profile": [{"do": "drop", "number": 1, "sources": []}]}
    for day, said, answer in ((0, "I have an exam on 2023-05-10.", first), (20, TEA[0], then)):
        at = timedelta(days=day)
        talk(mira, said, "I see.", at=MORNING + at)
        rehearsal.script({"task": "understanding", "answer": json.dumps(answer)})
        assert closed(mira, NOON + at).state == "done"
    asked = [
        str(one["messages"][-1]["content"])
        for one in rehearsal.requests()
        if "Task: understanding" in str(one)
    ]
    assert 'P1 [Tue 2023-05-02], its day is past: "Alice has an exam on 2023-05-10."' in asked[-1]
    revisions = Revision.objects.filter(about=Revision.About.USER_PROFILE).order_by("number")
    assert [[sentence["text"] for sentence in one.sentences] for one in revisions] == [[exam["text"]], []]


def test_a_fact_is_closed_by_what_a_second_reading_finds_it_untrue_beside(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    dog = keep_fact(mira.pk, "Alice has a dog, and no cat called Pixel.", MORNING, MORNING)
    talk(mira, *JOKE)
    script_joke(rehearsal, "joke", "yes", "yes", "yes", "yes", "joke", "yes", "over")
    assert closed(mira, NOON).state == "done"
    asked = str(rehearsal.requests()[-1]["messages"][-1]["content"])
    assert f'8. earlier: "{dog.text}" <- "{CAT}"' in asked
    dog.refresh_from_db()
    assert dog.replaced_by is not None
    assert dog.replaced_by.text == CAT


def test_what_a_second_reading_finds_known_in_other_words_is_told_again(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    cat = keep_fact(mira.pk, "Pixel is the cat of Alice.", MORNING, MORNING)
    talk(mira, *JOKE)
    script_joke(rehearsal, "joke", "yes", "yes", "yes", "yes", "joke", "yes", "same")
    assert closed(mira, NOON).state == "done"
    assert Memory.objects.exclude(kind__in=["said", "diary"]).get() == cat
    cat.refresh_from_db()
    assert cat.evidence == 2


def test_a_promise_without_a_day_that_is_kept_in_a_later_talk_is_no_longer_open(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    def learn(said: str, **fact: Any) -> str:
        """Let a session end whose facts are one that Alice tells; what the model was asked for them."""
        told = {"text": said.replace("I ", "Alice "), "sources": [1], "quotes": [said], **fact}
        rehearsal.script({"task": "facts", "answer": json.dumps({"memories": [told]})})
        at = Message.objects.count() * timedelta(days=1)
        talk(mira, said, "Good.", at=MORNING + at)
        assert closed(mira, NOON + at).state == "done"
        asked = [one["messages"] for one in rehearsal.requests() if "Task: facts" in str(one)]
        return str(asked[-1][-1]["content"])

    learn("I will send you the photos of the garden.", kind="promise", thread="open")
    assert Thread.objects.get().state == "open"
    asked = learn("I mailed the pictures today.", kind="event", thread="settled", of=1)
    assert 'M1 [Tue 2023-05-02] promise, open: "Alice will send you the photos of the garden."' in asked
    assert Thread.objects.get().state == "settled"


def test_what_the_two_are_is_asked_again_where_enough_was_said_or_a_week_has_gone(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    def asks(day: int, *said: str) -> str:
        """Return what is asked about the two at the end of a session on that day; nothing where nothing is."""
        rehearsal.reset()
        at = timedelta(days=day)
        talk(mira, *said, at=MORNING + at)
        assert closed(mira, NOON + at).state == "done"
        asked = next((str(one) for one in rehearsal.requests() if "Task: understanding" in str(one)), "")
        return asked.rpartition("<kith-said>")[2]

    assert TEA[0] in asks(0, *TEA)
    assert asks(1, *GARDEN) == ""
    assert GARDEN[0] in asks(2, *[text for n in range(18) for text in (f"I read the book {n}.", "I see.")])
    assert asks(8, *TEA) == ""
    again = asks(10, *GARDEN)
    assert all(text in again for text in (*TEA, *GARDEN))
    assert "I read the book" not in again


def test_what_has_taught_nothing_is_not_shown_again_with_later_talks(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    small = ("Good evening!", "Good evening, Alice.")
    for day, said in ((0, TEA), (8, small), (15, GARDEN)):
        talk(mira, *said, at=MORNING + timedelta(days=day))
        closed(mira, NOON + timedelta(days=day))
    asked = [str(one["messages"][-1]) for one in rehearsal.requests() if "Task: understanding" in str(one)]
    assert [text in asked[-1] for text in (GARDEN[0], small[0])] == [True, False]
    assert len(asked) == 2


def test_after_eight_tries_the_operator_is_told_and_a_new_asking_begins_anew(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    talk(mira, *TEA)
    rehearsal.script({"task": "facts", "answer": "{", "repeat": MAX_ATTEMPTS})
    job = close(mira, NOON)
    now, waits = NOON, []
    closing = Closing.objects.get()
    while closing.state == "waiting":
        run(closing.pk, clock_at(now))
        closing.refresh_from_db()
        waits.append((closing.next_at - now).total_seconds() / 60)
        now = max(closing.next_at, now)
    assert (closing.state, closing.attempts) == ("failed", MAX_ATTEMPTS)
    assert waits[:7] == [2, 4, 8, 16, 32, 64, 128]
    job.refresh_from_db()
    assert job.error == "malformed_answer"
    assert Session.objects.get().ended_at is None
    again = close(mira, now)
    assert again != job
    run(Closing.objects.get(job=again).pk, clock_at(now))
    assert DiaryEntry.objects.count() == 1


@pytest.mark.parametrize("part", ["diary", "understanding"])
def test_facts_do_not_wait_for_a_part_that_is_never_in_form(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer, part: str
) -> None:
    talk(mira, *TEA)
    rehearsal.script({"task": part, "answer": "{", "repeat": 5})
    closing, now = closed(mira, NOON), NOON
    while closing.state == "waiting":
        now = closing.next_at
        run(closing.pk, clock_at(now))
        closing.refresh_from_db()
    assert (closing.state, now) == ("done", NOON + timedelta(minutes=30))
    assert mira.memories.exclude(kind__in=["said", "diary"]).exists()
    entry = DiaryEntry.objects.get()
    assert (entry.is_stale, bool(entry.sentences)) == (part == "diary", part == "understanding")
    assert (Companion.objects.get().understood_until is None) is (part == "understanding")
    if entry.is_stale:
        diary_rewrite.run(entry.pk, clock_at(now + timedelta(hours=1)))
        entry.refresh_from_db()
        assert entry.sentences
        assert not Memory.objects.get(pk=entry.memory_id).is_stale
