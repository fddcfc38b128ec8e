"""The page of a companion's life: how it feels, what it did by itself and why, what is planned, what it may."""

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from companions.conversations.messages import open_session, say
from companions.life import inner_state
from companions.life.inner_state import Feeling, compare_texts
from companions.models import Companion, InnerState, Message, Timer, Waking
from companions.templatetags.life import deeds, eye, mood, mouth, tone
from memory.emotion import Emotion

NOW = timezone.now()
SENT = {
    "is_awake": "on",
    "reaches_out": "on",
    "most_a_day": "3",
    "quiet_from": "21:00",
    "quiet_until": "09:00",
    "sleeps_from": "23:00",
    "sleeps_until": "06:30",
    "by_email": "on",
}


def woke(companion: Companion, at: datetime = NOW, **fields: Any) -> Waking:
    """A waking of the morning's timer that has ended."""
    timer = Timer.objects.get(companion=companion, name="morning")
    given = {"timer": timer, "origin": "timer", "due_at": at, "created_at": at, "state": "done"} | fields
    return Waking.objects.create(companion=companion, **given)


def spoke(companion: Companion, text: str, at: datetime = NOW) -> Message:
    """What the companion said in a waking."""
    session = open_session(companion.conversation, at)
    told = {"role": "assistant", "text": text, "said_at": at, "waking": woke(companion, at, outcome="spoke")}
    message = Message(companion=companion, conversation=companion.conversation, session=session, **told)
    return say(message, at)


def path(companion: Companion, rest: str = "") -> str:
    return f"/companions/{companion.pk}/life/{rest}"


def page(client: Client, companion: Companion, rest: str = "", **asked: str) -> str:
    return client.get(path(companion, rest), asked).content.decode()


# -- how it feels ---------------------------------------------------------------------------------------------------


def test_how_it_feels_stands_in_its_own_words(at_home: Client, mira: Companion) -> None:
    feeling = Feeling(0.8, 0.3, Emotion.HAPPY, 0.9)
    inner_state.revise(
        mira.pk, "The rain <b>sings</b>.", feeling, by=InnerState.By.WAKING, now=timezone.now()
    )
    shown = page(at_home, mira, "inner-state/")
    assert "The rain &lt;b&gt;sings&lt;/b&gt;." in shown
    assert "Mira feels very happy" in shown
    assert "mood-good" in shown
    assert "when it woke" in shown


@pytest.mark.parametrize(
    ("feeling", "word", "colour"),
    [
        (Feeling(), "calm", "mood-calm"),
        (Feeling(0.5, 0.2), "content", "mood-good"),
        (Feeling(0.5, 0.6), "lively", "mood-good"),
        (Feeling(-0.5, 0.2), "low", "mood-low"),
        (Feeling(-0.5, 0.6), "tense", "mood-low"),
        (Feeling(0.0, 0.6), "stirred", "mood-calm"),
        (Feeling(0.2, 0.2, Emotion.CURIOUS, 0.2), "a little curious", "mood-good"),
        (Feeling(-0.3, 0.2, Emotion.SAD, 0.5), "sad", "mood-low"),
    ],
)
def test_a_mood_has_a_word_and_a_colour(feeling: Feeling, word: str, colour: str) -> None:
    assert (mood(feeling), tone(feeling)) == (word, colour)


def test_the_face_smiles_frowns_and_wakes() -> None:
    assert mouth(Feeling()) == "M8.2 15.20Q12 15.20 15.8 15.20"
    assert mouth(Feeling(1.0)) == "M8.2 13.45Q12 18.70 15.8 13.45"
    assert mouth(Feeling(-1.0)) == "M8.2 16.95Q12 11.70 15.8 16.95"
    assert float(eye(Feeling(arousal=1.0))) > float(eye(Feeling()))


def test_a_revision_shows_what_it_says_anew(at_home: Client, mira: Companion) -> None:
    for text in ("It rains. Alice is away.", "It rains. Alice is back, and tired."):
        inner_state.revise(mira.pk, text, Feeling(), by=InnerState.By.REFLECTION, now=timezone.now())
    shown = page(at_home, mira, "inner-state/")
    assert "It rains." in shown
    assert "<del>" in shown
    newest = shown.split("Version 2:")[0]
    assert "<ins>" in newest
    assert "and tired" in newest
    assert "away" in newest.split("<del>")[1]
    assert "after thinking about your talk" in shown


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("I said “Hello.”, and left. It is 3.5 km.", ["I said “Hello.”, and left.", "It is 3.5 km."]),
        ("今天很累。我想睡", ["今天很累。", "我想睡"]),
        ("One\nTwo", ["One", "Two"]),
        ("", []),
    ],
)
def test_it_is_compared_sentence_by_sentence(text: str, lines: list[str]) -> None:
    assert [line[0].text for line in compare_texts(text, text)] == lines


def test_revisions_come_by_pages(at_home: Client, mira: Companion) -> None:
    for number in range(25):
        inner_state.revise(
            mira.pk, f"State {number}.", Feeling(), by=InnerState.By.WAKING, now=timezone.now()
        )
    revisions = [page(at_home, mira, "inner-state/", page=number) for number in ("1", "2")]
    # The first was there before.
    assert [shown.count('class="inner-state"') for shown in revisions] == [20, 6]
    assert "Version 1:" in revisions[1]
    assert at_home.get(path(mira, "inner-state/"), {"page": "none"}).status_code == 200


# -- the log --------------------------------------------------------------------------------------------------------


def test_the_log_says_when_why_and_what_came_of_it(at_home: Client, mira: Companion) -> None:
    message = spoke(mira, "Good <i>morning</i>, did you sleep?")
    thought = "She was tired yesterday."
    Waking.objects.filter(pk=message.waking_id).update(thought=thought, note="A new day")
    shown = page(at_home, mira)
    assert "It wrote to you." in shown
    assert "every day at 08:00" in shown
    assert "Good &lt;i&gt;morning&lt;/i&gt;, did you sleep?" in shown
    assert thought in shown
    assert f"#message-{message.pk}" in shown


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"outcome": "silent"}, "It chose to stay silent."),
        ({"state": "skipped", "reason": "nothing_new"}, "you two had not talked since"),
        ({"state": "skipped", "reason": "no_tokens"}, "that day&#x27;s allowance was used up"),
        ({"state": "failed", "reason": "provider_unavailable"}, "the model did not answer"),
        ({"outcome": "held", "reason": "quiet_hours"}, "these were your quiet hours"),
    ],
)
def test_why_it_was_quiet_stands_in_the_log(
    at_home: Client, mira: Companion, fields: dict[str, str], sentence: str
) -> None:
    woke(mira, **fields)
    assert sentence in page(at_home, mira)


def test_what_it_held_back_by_a_rule_can_be_read_but_what_would_press_cannot(
    at_home: Client, mira: Companion
) -> None:
    woke(mira, outcome="held", reason="muted", text="The tea is ready.")
    woke(mira, NOW - timedelta(hours=1), outcome="held", reason="guilt", text="You left me alone.")
    shown = page(at_home, mira)
    assert "The tea is ready." in shown
    assert "You left me alone." not in shown
    assert "its words did not pass the check" in shown


def test_what_it_did_beside_speaking_is_told_once() -> None:
    used = [
        ("recall", False),
        ("search_conversation", False),
        ("set_timer", True),
        ("feel", False),
        ("think", False),
    ]
    tools = [{"name": name, "is_error": is_error} for name, is_error in used]
    assert deeds(tools) == ["looked through what it remembers", "changed how it feels"]


def test_the_log_comes_by_pages_and_in_parts(at_home: Client, mira: Companion) -> None:
    for hours in range(25):
        woke(mira, NOW - timedelta(hours=hours), outcome="silent", thought=f"Thought {hours}.")
    response = at_home.get(path(mira))
    assert "Thought 0." in response.content.decode()
    asked = {"cursor": response.context["following"]}
    part = at_home.get(path(mira), asked, headers={"HX-Request": "true"}).content.decode()
    assert "Thought 24." in part
    assert "Thought 0." not in part
    assert "<html" not in part
    assert "Thought 24." in page(at_home, mira, **asked)
    assert at_home.get(path(mira), {"cursor": "nonsense"}).status_code == 404


def test_a_log_of_any_length_takes_as_many_queries(
    at_home: Client, mira: Companion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for hours in range(6):
        spoke(mira, f"Hello {hours}", NOW - timedelta(hours=hours))
    # session, user, companion, wakings of the log, reflections, wakings that wait, timers
    with django_assert_num_queries(7):
        at_home.get(path(mira))


# -- what is planned ------------------------------------------------------------------------------------------------


def test_what_is_planned_can_be_cancelled(at_home: Client, mira: Companion) -> None:
    waking = woke(mira, state="waiting", look_at=NOW, note="Ask about the exam")
    timer = Timer.objects.get(companion=mira, name="evening")
    assert "Ask about the exam" in page(at_home, mira)
    for way in (f"life/wakings/{waking.pk}/cancel/", f"timers/{timer.pk}/cancel/"):
        response = at_home.post(f"/companions/{mira.pk}/{way}", {"from": "life"}, follow=True)
        assert response.redirect_chain[-1][0] == path(mira)
    waking.refresh_from_db()
    timer.refresh_from_db()
    assert (waking.state, waking.reason, waking.look_at) == ("skipped", "cancelled", None)
    assert timer.state == "cancelled"
    assert "every day at 22:55" not in page(at_home, mira)


def test_a_waking_that_is_over_is_not_cancelled(at_home: Client, mira: Companion) -> None:
    waking = woke(mira, outcome="silent")
    response = at_home.post(path(mira, f"wakings/{waking.pk}/cancel/"), follow=True)
    assert "It is already over." in response.content.decode()
    waking.refresh_from_db()
    assert (waking.state, waking.reason) == ("done", "")


# -- what it may ----------------------------------------------------------------------------------------------------


def test_how_it_lives_is_kept(at_home: Client, mira: Companion, settings: Any) -> None:
    settings.EMAIL_URL = "smtp://mail.example.org"
    type(mira.life).objects.filter(pk=mira.pk).update(reflect_attempts=3)
    assert at_home.post(path(mira, "settings/"), SENT)["Location"] == path(mira, "settings/")
    life = Companion.objects.get(pk=mira.pk).life
    assert (life.is_awake, life.reaches_out, life.most_a_day) == (True, True, 3)
    assert (life.by_email, life.by_push, life.reflect_attempts) == (True, False, 3)
    assert [f"{at:%H:%M}" for at in (life.quiet_from, life.sleeps_until)] == ["21:00", "06:30"]
    assert 'value="21:00"' in page(at_home, mira, "settings/")


def test_a_way_that_this_kith_has_not_is_closed_and_says_why(
    at_home: Client, mira: Companion, settings: Any
) -> None:
    settings.VAPID_KEY = ""
    type(mira.life).objects.filter(pk=mira.pk).update(by_email=True, by_push=True)
    shown = page(at_home, mira, "settings/")
    assert re.findall(r'name="(by_\w+)"[^>]* disabled', shown) == ["by_push", "by_email"]
    assert "checked" not in shown.partition('name="by_push"')[2]
    assert shown.count("Notifications are not set up on this Kith.") == 1
    assert shown.count("This Kith does not send e-mail.") == 1
    at_home.post(path(mira, "settings/"), SENT)
    life = Companion.objects.get(pk=mira.pk).life
    assert (life.most_a_day, life.by_email, life.by_push) == (3, True, True)


@pytest.mark.parametrize(
    "wrong", [{"most_a_day": "11"}, {"most_a_day": "-1"}, {"quiet_from": "25:00"}, {"sleeps_until": ""}]
)
def test_what_does_not_fit_comes_back_in_its_place(
    at_home: Client, mira: Companion, wrong: dict[str, str]
) -> None:
    response = at_home.post(path(mira, "settings/"), SENT | wrong)
    assert response.status_code == 422
    assert list(response.context["form"].errors) == list(wrong)
    assert not Companion.objects.get(pk=mira.pk).life.reaches_out


def test_it_is_muted_and_heard_again_with_one_tap(at_home: Client, mira: Companion) -> None:
    for sent, is_muted, offered in (("yes", True, "Unmute"), ("no", False, "Mute")):
        assert at_home.post(path(mira, "mute/"), {"is_muted": sent})["Location"] == path(mira, "settings/")
        assert Companion.objects.get(pk=mira.pk).life.is_muted is is_muted
        assert f">{offered}</button>" in page(at_home, mira, "settings/")


def test_another_persons_log_tells_nothing_of_hers(at_home: Client, bob: User, tian: Companion) -> None:
    waking = woke(tian, outcome="silent", thought="Of Bob.", state="waiting")
    assert at_home.get(path(tian)).status_code == 404
    assert at_home.post(path(tian, f"wakings/{waking.pk}/cancel/")).status_code == 404
    waking.refresh_from_db()
    assert waking.state == "waiting"
