"""The talk as the server gives it: pages of history, turns in every state, retry, deletion."""

import html
import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import AsyncClient, Client
from django.utils import timezone

from accounts.models import User
from companions.branches.operations import fork
from companions.conversations.markdown import as_html
from companions.life.timers.timers import cancel, set_timer
from companions.models import Closing, Companion, Message, Reply, Session, Timer
from companions.replies.checkpoint import Said
from companions.replies.finish import finish
from companions.replies.lifecycle import start
from companions.sessions.closing import run
from companions.sessions.requests import close
from jobs.background import in_thread
from memory.models import DiaryEntry, Recall
from memory.recall.recall import Found, record
from memory.store import keep_fact
from tests.fixtures.clock import clock_at
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.turns import connected, make_companion
from tests.pages.conftest import Told, answered

HTMX = {"HX-Request": "true"}
NO_TIMER = "No reminder was set with this answer."


def test_a_turn_shows_both_sides(at_home: Client, told: Told) -> None:
    page = at_home.get(told.path).content.decode()
    assert "I have an exam on Friday" in page
    assert "<strong>Good luck</strong> to you" in page


def test_a_block_of_an_answer_being_made_is_rendered_as_the_answer_is(
    at_home: Client, told: Told, tian: Companion
) -> None:
    text = "**Good** [luck](javascript:alert(1)) <script>"
    answer = at_home.post(f"{told.path}markdown/", {"text": text}).content.decode()
    assert answer == as_html(text)
    assert at_home.post(f"{told.path}markdown/", {"text": "a" * 20_001}).status_code == 422
    assert at_home.post(f"/companions/{tian.pk}/markdown/", {"text": text}).status_code == 404


def test_history_comes_in_pages_that_leave_nothing_out(at_home: Client, mira: Companion) -> None:
    User.objects.update(messages_per_minute=1_000)
    for number in range(60):
        answered(mira, f"said {number}.", f"answered {number}.")
    path, pages, turns = f"/companions/{mira.pk}/turns/", [], []
    while path:
        response = at_home.get(path)
        page = response.context["page"]
        turns = page.turns + turns
        pages.append(len(page.turns))
        path = f"/companions/{mira.pk}/turns/?before={page.earlier}" if page.earlier else ""
    assert [turn.message.text for turn in turns] == [f"said {number}." for number in range(60)]
    assert [turn.answer.text for turn in turns] == [f"answered {number}." for number in range(60)]
    assert pages == [25, 25, 10]


def test_a_page_of_history_costs_the_same_for_few_and_for_many(
    at_home: Client, mira: Companion, django_assert_num_queries: object
) -> None:
    for number in range(20):
        answered(mira, f"said {number}.", f"answered {number}.")
    # Session, user, companion, path, sessions, replies, what made them, recalls, retractions, proposals, timers,
    # recordings, pictures, bookmarks, what is unread.
    with django_assert_num_queries(16):  # type: ignore[operator]
        assert at_home.get(f"/companions/{mira.pk}/turns/").status_code == 200


@pytest.mark.parametrize("before", ["x", "00000000-0000-0000-0000-000000000000"])
def test_history_before_nothing_is_not_there(at_home: Client, told: Told, before: str) -> None:
    assert at_home.get(f"{told.path}turns/?before={before}").status_code == 404


@pytest.mark.parametrize(
    ("state", "answer", "words", "button"),
    [
        (Reply.State.STOPPED, "Half of", "You stopped this answer.", "Continue"),
        (Reply.State.INTERRUPTED, "Half of", "what was said so far is kept", "Continue"),
        (Reply.State.INTERRUPTED, "", "what was said so far is kept", "Try again"),
        (Reply.State.FAILED, "", "Your message is kept", "Try again"),
    ],
)
def test_an_answer_that_ended_early_says_so(
    at_home: Client, mira: Companion, state: Reply.State, answer: str, words: str, button: str
) -> None:
    reply = answered(mira, "hello", answer, state)
    page = at_home.get(f"/companions/{mira.pk}/turns/{reply.message_id}/").content.decode()
    assert words in page
    assert button in page
    assert (answer in page) if answer else ("prose" not in page)


def test_an_answer_of_a_call_that_nobody_heard_is_told_only_at_the_end(
    at_home: Client, mira: Companion
) -> None:
    reply = answered(mira, "hello", "", Reply.State.STOPPED)
    path = f"/companions/{mira.pk}/turns/{reply.message_id}/"
    assert 'class="trouble only-last-row"' in at_home.get(path).content.decode()
    Reply.objects.filter(pk=reply.pk).update(is_in_call=True)
    assert 'class="trouble only-last"' in at_home.get(path).content.decode()


@pytest.mark.parametrize(
    ("code", "words", "button"),
    [
        ("answer_limit", "reached its length limit", "Continue"),
        ("answer_loop", "began to repeat itself", "Try again"),
    ],
)
def test_an_answer_that_was_cut_off_says_why(
    at_home: Client, mira: Companion, code: str, words: str, button: str
) -> None:
    reply = answered(mira, "hello", "Half of", Reply.State.INTERRUPTED)
    Reply.objects.filter(pk=reply.pk).update(code=code)
    for begins_with in (reply.message_id, reply.answer_id):  # a page of the history may begin with the answer
        page = at_home.get(f"/companions/{mira.pk}/turns/{begins_with}/").content.decode()
        assert words in page
        assert button in page
        assert "what was said so far is kept" not in page


def test_an_answer_tells_the_timers_that_it_set_while_they_run(at_home: Client, mira: Companion) -> None:
    reply = answered(mira, "Remind me to stretch, please.", "I will.")
    path = f"/companions/{mira.pk}/turns/{reply.message_id}/"
    now = timezone.now()
    given: dict[str, Any] = {"now": now, "is_asked_for": True, "message": reply.message}
    timer = set_timer(mira, "2h", "Stretch your legs", by=Timer.By.COMPANION, **given)
    page = at_home.get(path).content.decode()
    assert "Stretch your legs" in page
    assert f"#timer-{timer.pk}" in page
    assert NO_TIMER not in page
    cancel(timer, now)
    page = at_home.get(path).content.decode()
    assert "Stretch your legs" not in page
    assert NO_TIMER not in page


@pytest.mark.parametrize(
    ("text", "state", "is_told"),
    [
        ("Remind me to stretch, please.", Reply.State.DONE, True),
        ("Remind me to stretch, please.", Reply.State.STOPPED, False),
        ("I stretch every day.", Reply.State.DONE, False),
    ],
)
def test_where_none_was_set_that_is_said_whatever_the_answer_says(
    at_home: Client, mira: Companion, text: str, state: Reply.State, is_told: bool
) -> None:
    reply = answered(mira, text, "I will remind you!", state)
    page = at_home.get(f"/companions/{mira.pk}/turns/{reply.message_id}/").content.decode()
    assert (NO_TIMER in page) is is_told
    assert (f"/timers/?message={reply.message_id}" in page) is is_told


def test_an_open_reply_waits_on_the_page(at_home: Client, mira: Companion) -> None:
    reply = start(mira, "hello", "a", timezone.now()).reply
    page = at_home.get(f"/companions/{mira.pk}/").content.decode()
    assert f'data-reply="{reply.pk}"' in page
    assert 'data-client-id="a"' in page


@pytest.mark.django_db(transaction=True)
async def test_an_answer_is_not_made_twice_at_once(alice: User) -> None:
    companion = await in_thread(make_companion, alice)
    done = await in_thread(answered, companion, "hello", "hello")
    waiting = (await in_thread(start, companion, "more", None, timezone.now())).reply
    client = AsyncClient()
    await in_thread(client.force_login, alice)
    path = f"/companions/{companion.pk}/replies"
    response = await client.post(f"{path}/{waiting.pk}/retry/")
    assert (response.status_code, response.json()["detail"]) == (409, "This reply is still being written.")
    assert (await client.post(f"{path}/{done.pk}/continue/")).status_code == 409


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("web")
async def test_a_failed_answer_is_tried_again(alice: User, rehearsal: RehearsalServer) -> None:
    companion = await in_thread(make_companion, alice)
    reply = await in_thread(answered, companion, "hello", "", Reply.State.FAILED)
    client = AsyncClient()
    await in_thread(client.force_login, alice)
    rehearsal.script({"answer": "Here again."})
    async with connected(alice, companion) as socket:
        path = f"/companions/{companion.pk}/replies/{reply.pk}/retry/"
        assert (await client.post(path)).status_code == 201
        done = (await socket.until("reply.done"))[-1]
    page = (await client.get(f"/companions/{companion.pk}/")).content.decode()
    assert done["message"]["text"] == "Here again."
    assert "Here again." in page
    assert "Your message is kept" not in page


def test_a_message_is_deleted_with_its_answer_or_without(at_home: Client, told: Told) -> None:
    path = f"{told.path}messages/{told.message.pk}/delete/"
    assert "Delete the answer to it as well" in at_home.get(path, headers=HTMX).content.decode()
    response = at_home.post(path, headers=HTMX)
    assert json.loads(response["HX-Trigger"]) == {"messages-deleted": {"ids": [str(told.message.pk)]}}
    assert list(told.companion.messages.all()) == [told.answer]


@pytest.mark.parametrize(
    "place", ["messages/{told.message.pk}/delete/", "memories/{told.fact.pk}/delete/", "diary/end/"]
)
def test_a_question_that_is_a_page_of_its_own_leads_to_another_page(
    at_home: Client, told: Told, place: str
) -> None:
    path = told.path + place.format(told=told)
    assert f'hx-post="{path}"' in at_home.get(path, headers=HTMX).content.decode()
    assert f'hx-post="{path}"' not in at_home.get(path).content.decode()
    assert at_home.post(path).status_code == 302


def test_a_message_and_its_answer_go_together(at_home: Client, told: Told) -> None:
    path, both = f"{told.path}messages/{told.message.pk}/delete/", [told.message.pk, told.answer.pk]
    response = at_home.post(path, {"with_answer": "on"}, headers=HTMX)
    assert json.loads(response["HX-Trigger"]) == {"messages-deleted": {"ids": [str(one) for one in both]}}
    assert not Message.objects.exists()
    assert "Nothing has been said yet" in at_home.get(told.path).content.decode()


def test_a_hidden_message_is_marked(at_home: Client, told: Told) -> None:
    Message.objects.filter(pk=told.message.pk).update(is_hidden=True)
    assert "no longer shown to Mira" in at_home.get(told.path).content.decode()


def test_a_rehearsed_answer_is_marked(at_home: Client, told: Told, settings: object) -> None:
    Message.objects.filter(pk=told.answer.pk).update(is_rehearsed=True)
    assert "written by the rehearsal model, which is not a language model" in at_home.get(
        told.path
    ).content.decode().replace("\n", " ")


def test_days_stand_between_turns_in_the_persons_own_zone(at_home: Client, mira: Companion) -> None:
    reply = answered(mira, "late", "yes")
    at = timezone.now().replace(year=2025, month=3, day=3, hour=23, minute=30)
    Message.objects.filter(pk=reply.message_id).update(said_at=at)
    page = at_home.get(f"/companions/{mira.pk}/").content.decode()
    assert "4 March 2025" in page  # half past midnight in Berlin
    assert 'data-day="2025-03-04"' in page


def remember(companion: Companion, text: str, answer: str, by: Recall.By, found: dict[str, Any]) -> None:
    """A turn that is over and was given these memories, each with its reasons; the first has the highest score."""
    now = timezone.now()
    asked = start(companion, text, None, now)
    Reply.objects.filter(pk=asked.reply.pk).update(state=Reply.State.THINKING, lease_by="a test")
    scored = enumerate(found.items())
    hits = [Found(keep_fact(companion.pk, fact, now, now), 9.0 - n, reasons) for n, (fact, reasons) in scored]
    record(companion.pk, by, text, hits, now, 3, reply_id=asked.reply.pk)
    finish(asked.reply, Reply.State.DONE, Said(text=answer), now, held_by="a test")


def test_the_remembered_line_shows_what_bears_on_the_answer_and_why_in_words(
    at_home: Client, mira: Companion
) -> None:
    remember(
        mira,
        "What do you know of my family, and of the walnuts?",
        "Marta works as a nurse.",
        Recall.By.TURN,
        {
            "You are allergic to walnuts.": {"matched": ["of", "walnut"], "bearing": 0.31},
            "Your cousin lives in Rome.": {"likeness": 0.45, "matched": [], "bearing": 0.2},
            "You like trams.": {"likeness": 0.2, "words": 0.0, "matched": [], "bearing": 0.12},
            "We swam at night.": {"flashback": True},
            "Your sister Marta is a nurse.": {"likeness": 0.4, "matched": [], "bearing": 0.15},
        },
    )
    page = html.unescape(at_home.get(f"/companions/{mira.pk}/").content.decode())
    shown = page.partition('class="folded remembered"')[2].partition("</details>")[0]
    line = shown.partition("</summary>")[0]
    assert "remembered: “Your sister Marta is a nurse.”" in line
    assert "+2" in line
    assert "because you spoke of walnuts" in shown
    assert "because it is close to what you said" in shown
    for hidden in ("trams", "swam", "%", "score"):
        assert hidden not in shown, hidden


def test_small_talk_remembers_nothing_that_is_shown(at_home: Client, mira: Companion) -> None:
    for by in (Recall.By.TURN, Recall.By.TOOL):
        reasons = {"likeness": 0.1, "matched": ["hello"]}
        remember(mira, "Hello again", "Hello, good to see you.", by, {f"You swim, {by}.": reasons})
    assert "remembered" not in at_home.get(f"/companions/{mira.pk}/").content.decode()


def test_ending_asks_first_and_keeps_one_in_the_talk(
    at_home: Client, told: Told, rehearsal: RehearsalServer
) -> None:
    page = at_home.get(told.path).content.decode()
    assert "End this talk" in page
    assert "context" not in page
    told.companion.sessions.update(pressure=0.814, unsent=6)
    gauge = at_home.get(f"{told.path}gauge/", headers=HTMX).content.decode()
    assert "nearly as long as Mira can follow at once" in gauge
    assert "6 earlier messages have been summed up" in gauge
    assert 'value="0.814"' in gauge
    question = at_home.get(f"{told.path}diary/end/", headers=HTMX).content.decode()
    assert "Mira will write about it in its diary and keep what it has learnt." in question
    assert not Closing.objects.exists()
    changed = at_home.post(f"{told.path}diary/end/", headers=HTMX)["HX-Trigger"]
    assert json.loads(changed) == {"turn-changed": {"turn": str(told.message.pk)}}
    assert at_home.post(f"{told.path}diary/end/")["Location"] == told.path
    assert "End this talk" not in at_home.get(f"{told.path}gauge/").content.decode()


def test_where_nothing_was_said_there_is_nothing_to_end(at_home: Client, mira: Companion) -> None:
    path = f"/companions/{mira.pk}/"
    assert "End this talk" not in at_home.get(path).content.decode()
    for _ in range(2):
        assert at_home.post(f"{path}diary/end/", headers=HTMX)["HX-Redirect"] == path
    assert "Nothing has been said since the last talk ended." in at_home.get(path).content.decode()


def test_the_end_of_a_talk_stands_below_its_last_word_until_its_diary_is_written(
    at_home: Client, told: Told, rehearsal: RehearsalServer
) -> None:
    close(told.companion, timezone.now())
    answered(told.companion, "And one thing more", "Yes")  # it belongs to the next talk
    turn = f"{told.path}turns/{told.message.pk}/"
    for page in (told.path, turn):
        shown = at_home.get(page).content.decode()
        assert shown.count("Mira is writing its diary…") == 1
        assert f'hx-get="{turn}"' in shown
    shown = at_home.get(told.path).content.decode()
    assert shown.index("Good luck") < shown.index("is writing its diary") < shown.index("And one thing more")
    closing = Closing.objects.get()
    Closing.objects.update(error="provider_unavailable")
    shown = at_home.get(turn).content.decode()
    assert "This talk is not in the diary yet" in shown
    assert 'hx-trigger="every 60s"' in shown.partition('class="talk-end"')[2]  # it is tried again
    Closing.objects.update(error="")
    run(closing.pk, clock_at(closing.next_at))
    entry = DiaryEntry.objects.get()
    shown = at_home.get(told.path).content.decode()
    assert "is writing its diary" not in shown
    assert shown.count('class="talk-end"') == 1
    assert f'href="{told.path}diary/{entry.pk}/">{html.escape(entry.title)}</a>' in shown
    assert "End of the talk · Today" in shown
    assert shown.index("Good luck") < shown.index("End of the talk") < shown.index("And one thing more")


def test_talks_that_ended_by_themselves_have_their_titles_where_they_ended(
    at_home: Client, mira: Companion, django_assert_num_queries: Any
) -> None:
    for number in range(3):
        answered(mira, "About trams", "Yes")
        answered(mira, f"More of trams {number}", "No")
        session = mira.sessions.filter(ended_at=None).get()
        Session.objects.filter(pk=session.pk).update(ended_at=timezone.now(), title=f"The <trams> {number}")
    now = timezone.now()
    entry = DiaryEntry.objects.create(
        companion=mira, session=session, title="x", started_at=now, ended_at=now, made_at=now
    )
    said = answered(mira, "A new day", "Yes").message
    path = f"/companions/{mira.pk}/"
    with django_assert_num_queries(16):
        page = at_home.get(f"{path}turns/").content.decode()
    assert page.count('class="talk-end"') == page.count("The &lt;trams&gt;") == 3
    assert page.index("More of trams 2") < page.index("The &lt;trams&gt; 2") < page.index("A new day")
    assert f"diary/{entry.pk}/" in page
    entry.delete()
    assert "The &lt;trams&gt; 2" in at_home.get(path).content.decode()
    first = Message.objects.filter(companion=mira).order_by("said_at").first()
    assert first
    fork(mira, first.pk, now)  # from before it ended: there nothing has
    assert 'class="talk-end"' not in at_home.get(path).content.decode()
    assert not Message.objects.filter(pk=said.pk).exists()


def test_a_part_that_is_not_there_takes_no_notice_from_the_page(at_home: Client, mira: Companion) -> None:
    at_home.post("/companions/new/card/", {"file": SimpleUploadedFile("a.bin", b"no card")})
    missing = at_home.get(f"/companions/{mira.pk}/turns/{mira.pk}/", headers={"HX-Request": "true"})
    assert missing.status_code == 404
    assert 'class="notices"' not in missing.content.decode()
    assert 'class="notices"' in at_home.get("/companions/new/").content.decode()


def test_a_call_is_offered_only_where_a_voice_can_be_understood(
    at_home: Client, mira: Companion, request: pytest.FixtureRequest
) -> None:
    path = f"/companions/{mira.pk}/"
    assert f'href="{path}call/"' not in at_home.get(path).content.decode()
    request.getfixturevalue("speech_rehearsal")
    assert f'href="{path}call/"' in at_home.get(path).content.decode()
