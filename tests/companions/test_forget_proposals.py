"""What a person asks to forget is proposed, shown to them, and goes from everywhere when they confirm it."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import Q
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from companions.errors import ForgetProposalError
from companions.life import inner_state
from companions.life.inner_state import Feeling
from companions.memories.forget_items import MAX_SHOWN
from companions.memories.forget_proposals import MAX_OPEN, confirm, decline, lapse, load_items, propose
from companions.models import (
    Closing,
    Companion,
    ForgetProposal,
    InnerState,
    Message,
    Prompt,
    Reply,
    Session,
    Timer,
    Waking,
)
from companions.pasts.log_import import Line, import_log
from companions.sessions.closing import run
from companions.sessions.requests import close
from companions.sessions.transcript import build_talk, select_messages, select_visible
from memory.core_memory import set_slot, write_block
from memory.forgotten import keep_forgotten, load_forgotten, read_words
from memory.learning.answers import Learnt
from memory.learning.diary import ClosedSession, Written, keep_session
from memory.learning.revisions import load_current
from memory.learning.verdicts import learn
from memory.models import DiaryEntry, Forgotten, Memory, Revision
from memory.models.core_memory import By
from memory.store import keep_fact
from tests.companions.everywhere import tables_with
from tests.companions.talking import say
from tests.companions.tools.conftest import NOW, end, turn_of, use
from tests.fixtures.clock import clock_at
from tests.fixtures.embedding import embed_all
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.rest import Api
from tests.fixtures.spaces import read_providers
from text.strings import quoted

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira", "rehearsal")]
LIST_QUERIES, PROPOSAL_QUERIES = 3, 21
EARLIER = NOW - timedelta(days=2)
LATER = NOW + timedelta(minutes=5)
SECRET = "My sister Marta is pregnant, the baby is due in February. Nobody knows yet."
SAID = (
    SECRET,
    "Marta is pregnant! I will tell nobody.",
    "I teach chemistry at a school in Porto.",
    "Chemistry must be fun.",
)


def told(text: str, *messages: Message) -> dict[str, Any]:
    return {"text": text, "sources": [str(message.pk) for message in messages]}


def written(diary: list[Any], profile: list[Any], title: str = "A day") -> Written:
    kept = {"title": title, "emotion": "happy", "intensity": 0.5, "call_id": None, "self_concept": []}
    return Written(diary=diary, user_profile=profile, **kept)  # type: ignore[arg-type]


@pytest.fixture
def secret(mira: Companion) -> list[Message]:
    """What was said of Marta and of chemistry, and what was made of it, in a session that is over."""
    said = say(mira, *SAID, at=EARLIER)
    for text, source in (("Marta is pregnant but wants nobody to know.", 0), ("Alice teaches chemistry.", 2)):
        keep_fact(mira.pk, text, EARLIER, EARLIER, [said[source].pk])
    session = said[0].session
    diary = [told("She told me that Marta is pregnant.", said[0]), told("We spoke of chemistry.", said[2])]
    profile = [told("Her nephew or niece is due in February.", said[0]), told("She teaches.", said[2])]
    ended = ClosedSession(
        session_id=session.pk, started_at=EARLIER, ended_at=EARLIER, written=written(diary, profile)
    )
    keep_session(mira.pk, ended, EARLIER, mira.user.zone)
    Session.objects.filter(pk=session.pk).update(ended_at=EARLIER, title="Marta is pregnant")
    Session.objects.filter(pk=session.pk).update(summary="Chemistry was fun. Marta is pregnant.")
    set_slot(mira.pk, "sister", "Marta, pregnant", by=By.COMPANION, now=EARLIER)
    write_block(mira.pk, "notes", "Be kind.\nMarta is pregnant: a secret.", by=By.USER, now=EARLIER)
    by, seen = InnerState.By.CLOSING, [message.pk for message in said]
    inner_state.revise(mira.pk, "I like chemistry.", Feeling(), by=by, now=EARLIER, seen=seen[2:])
    glad = "I am glad that Marta is pregnant. Her lessons are fun."
    inner_state.revise(mira.pk, glad, Feeling(), by=by, now=EARLIER, seen=seen)
    return said


def asked(mira: Companion, text: str = "Please forget that Marta is pregnant.") -> ForgetProposal:
    """The proposal that the companion makes as it is asked so; its answer is given."""
    turn = turn_of(mira, text)
    given = use(turn, "forget", words="Marta is pregnant")
    assert given["proposed"] == "Marta is pregnant", given
    end(turn, "Shall I forget that Marta is pregnant? Look at what would go.")
    return ForgetProposal.objects.select_related("companion__user", "reply__message", "reply__answer").get()


def test_the_companion_only_proposes(mira: Companion, secret: list[Message]) -> None:
    turn = turn_of(mira, "Please forget that Marta is pregnant.")
    given = use(turn, "forget", words="Marta is pregnant")
    assert "Nothing is forgotten yet" in given["state"]
    assert use(turn, "forget", words="Marta is pregnant") == given
    assert ForgetProposal.objects.count() == 1
    assert Memory.objects.filter(text__startswith="Marta is pregnant but", closed_at=None).exists()
    assert Message.objects.filter(text=SECRET, is_hidden=False).exists()


def test_it_shows_all_that_would_go(mira: Companion, secret: list[Message]) -> None:
    items = load_items(asked(mira))
    choosable = {(item.kind.value, item.text) for item in items if not item.goes_along}
    assert choosable == {
        ("memory", "Marta is pregnant but wants nobody to know."),
        ("message", SECRET),
        ("message", "Marta is pregnant! I will tell nobody."),
        ("message", "Please forget that Marta is pregnant."),
        ("message", "Shall I forget that Marta is pregnant? Look at what would go."),
        ("diary", "She told me that Marta is pregnant."),
        ("slot", "sister: Marta, pregnant"),
        ("block", "Marta is pregnant: a secret."),
        ("inner_state", "I am glad that Marta is pregnant."),
    }
    along = [(item.kind.value, item.text) for item in items if item.goes_along]
    assert along == [("user_profile", "Her nephew or niece is due in February.")]


def test_whatever_else_goes_with_a_message_that_told_more_is_shown(mira: Companion) -> None:
    both, hour = say(mira, f"{SECRET} My driving exam is on Friday.", "At nine, noted.", at=EARLIER)
    keep_fact(mira.pk, "Marta is pregnant.", EARLIER, EARLIER, [both.pk])
    exam = keep_fact(mira.pk, "Her driving exam is at nine.", EARLIER, EARLIER, [both.pk, hour.pk])
    Message.objects.filter(pk=hour.pk).update(role=Message.Role.USER)  # so that it is not the answer
    set_slot(mira.pk, "exam", "on Friday", by=By.COMPANION, now=EARLIER, source_ids=[both.pk])
    block = write_block(mira.pk, "notes", "Be kind.\nFriday: exam", by=By.USER, now=EARLIER)
    block.sources.add(both)
    timer = Timer.objects.create(
        companion=mira, by="companion", schedule="3d", note="Ask how it went", message=both,
        created_at=EARLIER, due_at=LATER, look_at=LATER,
    )  # fmt: skip
    waking = Waking.objects.create(
        companion=mira, timer=timer, origin=Waking.Origin.TIMER, due_at=EARLIER, created_at=EARLIER,
        state=Waking.State.DONE,
    )  # fmt: skip
    (reminder,) = say(mira, "How did it go?", at=EARLIER)
    Message.objects.filter(pk=reminder.pk).update(role=Message.Role.ASSISTANT, waking=waking)
    keep_fact(mira.pk, "Mira asks how things went.", EARLIER, EARLIER, [reminder.pk])
    proposal = asked(mira)
    along = {(item.kind.value, item.text) for item in load_items(proposal) if item.goes_along}
    assert along == {
        ("message", "How did it go?"),
        ("memory", "Mira asks how things went."),
        ("memory", "Her driving exam is at nine."),
        ("slot", "exam: on Friday"),
        ("block", "Friday: exam"),
        ("timer", "Ask how it went"),
    }
    confirm(proposal, None, LATER)
    assert not Memory.objects.filter(Q(pk=exam.pk) | Q(text__startswith="Mira asks")).exists()
    assert not mira.slots.exists()
    block.refresh_from_db()
    timer.refresh_from_db()
    assert (block.text, timer.state, timer.note) == ("Be kind.", "cancelled", "")


def test_what_was_answered_to_it_goes_with_it_whatever_its_words(mira: Companion) -> None:
    secret, answer, other, fun = say(
        mira, SECRET, "It stays between us; eight weeks is long.", *SAID[2:], at=EARLIER
    )
    confirm(asked(mira), None, LATER)
    left = set(Message.objects.filter(companion=mira).values_list("pk", flat=True))
    assert not left & {secret.pk, answer.pk}
    assert {other.pk, fun.pk} <= left


def test_confirmed_it_is_gone_everywhere_and_nothing_else(mira: Companion, secret: list[Message]) -> None:
    proposal = asked(mira)
    confirm(proposal, None, LATER)
    assert tables_with("pregnant") == {}
    assert tables_with("February") == {}
    assert not Message.objects.filter(pk=proposal.reply.message_id).exists()
    profile = load_current(mira.pk, Revision.About.USER_PROFILE)
    assert profile
    assert profile.text == "She teaches."
    assert DiaryEntry.objects.get().summary == "We spoke of chemistry."
    assert Memory.objects.filter(text="Alice teaches chemistry.", closed_at=None).exists()
    assert Message.objects.filter(text__startswith="I teach chemistry", is_hidden=False).exists()
    state = inner_state.get_newest(mira.pk)
    assert state
    assert state.text == "Her lessons are fun."
    with pytest.raises(ForgetProposalError, match="proposal_ended"):
        confirm(proposal, None, LATER)


def test_no_prompt_of_another_turn_keeps_a_sentence_that_is_gone(mira: Companion) -> None:
    note = 'Marta is "pregnant".'
    unmoved = turn_of(mira, "Good morning")
    end(unmoved)
    write_block(mira.pk, "notes", f"Be kind.\n{note}", by=By.USER, now=EARLIER)
    keep_fact(mira.pk, "Marta is pregnant.", EARLIER, EARLIER, [])
    other = turn_of(mira, "Hello")
    end(other)
    Reply.objects.filter(pk=other.reply.pk).update(thought=f"I know this: {note}")
    Prompt.objects.filter(reply=other.reply).update(wrote=note)
    prompt = [{"role": "system", "content": f"- {quoted(note)}"}]
    waking = Waking.objects.create(
        companion=mira, origin=Waking.Origin.FORCED, due_at=EARLIER, created_at=EARLIER,
        state=Waking.State.DONE, prompt=prompt, steps=[{"name": "think", "arguments": json.dumps({"text": note})}],
    )  # fmt: skip
    (before,) = say(mira, "I like trams.", at=NOW)
    proposal = asked(mira)
    kept = {"companions_prompt", "companions_reply", "companions_waking"}
    assert kept <= tables_with("pregnant").keys()
    confirm(proposal, None, LATER)
    assert tables_with("pregnant") == {}
    waking.refresh_from_db()
    assert (waking.state, waking.prompt, waking.steps) == ("done", [], [])
    assert Message.objects.filter(pk__in=[before.pk, other.message.pk]).count() == 2
    assert Prompt.objects.filter(reply=unmoved.reply).exists()


def test_what_is_not_chosen_stays_for_the_eye_and_is_shown_to_no_model(
    mira: Companion, secret: list[Message]
) -> None:
    proposal = asked(mira)
    keys = [item.key for item in load_items(proposal) if item.text != SECRET]
    confirm(proposal, keys, LATER)
    message = Message.objects.get(text=SECRET)
    assert message.is_hidden
    assert Memory.objects.get(message=message).is_private
    assert not Memory.objects.filter(text__startswith="Marta is pregnant but").exists()
    assert set(tables_with("pregnant")) == {"companions_message", "memory_memory"}


def test_it_is_not_learnt_again_from_what_was_said_before_but_from_what_is_said_after(
    mira: Companion, secret: list[Message]
) -> None:
    proposal = asked(mira)
    confirm(proposal, None, LATER)
    (before,) = say(mira, "Well, with Marta pregnant I knit a lot.", at=NOW)
    (after,) = say(mira, "Marta is pregnant, and everybody knows now!", at=LATER + timedelta(hours=1))
    for message, outcome in ((before, "stopped"), (after, "added")):
        talk = build_talk(mira.pk, [message], mira.user.zone, 1000)
        fact = Learnt.model_validate(
            {
                "verdict": "add",
                "kind": "fact",
                "text": "Marta is pregnant.",
                "quotes": [message.text],
                "sources": [1],
                "importance": 5,
            }
        )
        learning = learn(mira.pk, talk, [fact], [], now=LATER, zone=mira.user.zone, names=mira.names)
        assert [verdict["outcome"] for verdict in learning.verdicts] == [outcome]
    ended = ClosedSession(
        session_id=Session.objects.create(
            companion=mira, conversation=mira.conversation, started_at=NOW, ended_at=LATER
        ).pk,
        started_at=NOW,
        ended_at=LATER,
        written=written(
            [told("Marta is pregnant, she said.", before), told("All know that Marta is pregnant.", after)],
            [told("Her sister Marta is pregnant.", before)],
            title="Of knitting",
        ),
    )
    entry = keep_session(mira.pk, ended, LATER, mira.user.zone)
    assert entry.summary == "All know that Marta is pregnant."
    profile = load_current(mira.pk, Revision.About.USER_PROFILE)
    assert profile
    assert profile.text == ""


def test_the_end_of_the_same_session_does_not_tell_it(mira: Companion, rehearsal: RehearsalServer) -> None:
    say(mira, *SAID, at=NOW - timedelta(minutes=30))
    confirm(asked(mira), None, LATER)
    rehearsal.reset()
    run(Closing.objects.get(job=close(mira, LATER)).pk, clock_at(LATER))
    assert Closing.objects.get().state == Closing.State.DONE
    assert "chemistry" in str(rehearsal.requests())
    assert "regnant" not in str(rehearsal.requests())
    assert tables_with("pregnant") == {}


def test_the_title_of_the_session_does_not_tell_it(mira: Companion, rehearsal: RehearsalServer) -> None:
    words = [read_words("Marta is pregnant", mira.names.values())]
    say(mira, *SAID, at=NOW - timedelta(minutes=30))
    keep_forgotten(mira.pk, words, NOW)
    told = [{"text": "We spoke of chemistry.", "sources": [1]}]
    diary = {"title": "Marta is pregnant", "diary": told, "emotion": "happy", "intensity": 0.5}
    rehearsal.script({"answer": json.dumps(diary)})
    run(Closing.objects.get(job=close(mira, LATER)).pk, clock_at(LATER))
    assert (DiaryEntry.objects.get().title, Session.objects.get().title) == ("…", "…")


def test_an_import_does_not_bring_it_back(mira: Companion, secret: list[Message]) -> None:
    confirm(asked(mira), None, LATER)
    lines = ["Marta is pregnant, imagine!", "The trams are loud."]
    import_log(mira, [Line(role="user", text=text, at=EARLIER) for text in lines], LATER)
    hidden = dict(Message.objects.filter(text__in=lines).values_list("text", "is_hidden"))
    assert hidden == {lines[0]: True, lines[1]: False}
    assert Memory.objects.get(text=lines[0]).is_private
    since = LATER + timedelta(hours=1)
    import_log(mira, [Line(role="user", text="Marta is pregnant, all know.", at=since)], since)
    assert not Message.objects.get(text="Marta is pregnant, all know.").is_hidden


def test_only_what_was_told_anew_after_each_forgetting_may_be_learnt(mira: Companion) -> None:
    text = "Marta is pregnant."
    for at in (NOW, NOW + timedelta(hours=2)):
        keep_forgotten(mira.pk, [read_words(text)], at)
    forgotten = load_forgotten(mira.pk)
    hours = {n: [(text, NOW + timedelta(hours=n))] for n in (1, 3)}
    assert [forgotten.forbid(text, hours[n]) for n in hours] == [True, False]
    assert [forgotten.select_since(hours[n][0][1]).forbid(text) for n in hours] == [True, False]
    assert forgotten.forbid(text, [("The trams are loud.", NOW + timedelta(hours=3))])
    assert not forgotten.forbid("The trams are loud.")


def test_the_request_is_never_learnt_from(mira: Companion, secret: list[Message]) -> None:
    proposal = asked(mira)
    session = proposal.reply.message.session
    assert not list(select_visible(select_messages(session)))
    decline(proposal, LATER)
    proposal.refresh_from_db()
    assert (proposal.state, proposal.subject) == ("declined", "")
    assert not list(select_visible(select_messages(session)))
    assert Memory.objects.filter(text__startswith="Marta is pregnant but").exists()
    assert load_items(proposal) == []
    assert not Forgotten.objects.exists()


def test_what_nobody_touches_lapses(mira: Companion, secret: list[Message]) -> None:
    proposal = asked(mira)
    assert lapse(NOW + timedelta(days=1)) == 0
    assert lapse(NOW + timedelta(days=4)) == 1
    with pytest.raises(ForgetProposalError):
        confirm(proposal, None, NOW + timedelta(days=4))


def test_nothing_is_proposed_that_nobody_asked_for_or_nothing_tells(
    mira: Companion, secret: list[Message]
) -> None:
    turn = turn_of(mira, "How is Marta?")
    assert "ask them first" in use(turn, "forget", words="Marta is pregnant")["error"]
    end(turn)
    turn = turn_of(mira, "Please forget about my bicycle")
    assert "Nothing is kept in these words" in use(turn, "forget", words="the bicycle")["error"]
    assert not ForgetProposal.objects.exists()


def test_nothing_chosen_is_nothing_forgotten(mira: Companion, secret: list[Message]) -> None:
    proposal = asked(mira)
    with pytest.raises(ForgetProposalError, match="nothing_chosen"):
        confirm(proposal, [], LATER)
    assert not Forgotten.objects.exists()


def test_what_is_forgotten_in_chinese_is_found(mira: Companion) -> None:
    said = say(mira, "我妹妹玛尔塔怀孕了,别告诉别人。", "好的,我不说。", at=EARLIER)
    keep_fact(mira.pk, "玛尔塔怀孕了。", EARLIER, EARLIER, [said[0].pk])
    turn = turn_of(mira, "请忘记玛尔塔怀孕了。")
    use(turn, "forget", words="玛尔塔怀孕了")
    end(turn, "好。")
    confirm(ForgetProposal.objects.get(), None, LATER)
    assert tables_with("怀孕") == {}


@pytest.mark.parametrize("deed", ["confirm", "decline"])
def test_of_very_many_things_the_card_shows_a_part(client: Client, mira: Companion, deed: str) -> None:
    for number in range(MAX_SHOWN + 2):
        keep_fact(mira.pk, f"Marta is pregnant, note {number}.", EARLIER, EARLIER, [])
    proposal = asked(mira)
    offered = [item for item in load_items(proposal) if not item.goes_along]
    client.force_login(mira.user)
    page = client.get(f"/companions/{mira.pk}/").content.decode()
    assert page.count('name="key"') == MAX_SHOWN
    assert f"and {len(offered) - MAX_SHOWN} more" in page
    form, decline_form = page[page.index('<form class="card proposal"') :].split("</form>")[:2]
    assert f'<button class="button button-quiet" form="decline-{proposal.pk}">' in form
    assert f'id="decline-{proposal.pk}"' in decline_form
    keys = [item.key for item in offered[:MAX_SHOWN]] if deed == "confirm" else []
    client.post(f"/companions/{mira.pk}/forget-proposals/{proposal.pk}/{deed}/", {"key": keys})
    proposal.refresh_from_db()
    assert proposal.state == {"confirm": "confirmed", "decline": "declined"}[deed]
    left = Memory.objects.filter(text__contains="pregnant, note").count()
    assert left == {"confirm": 2, "decline": MAX_SHOWN + 2}[deed]


def get_list(as_alice: Api, mira: Companion, query: str = "") -> Any:
    return as_alice.get(f"/companions/{mira.pk}/forget-proposals{query}").json()


def test_the_list_gives_a_part_of_very_many_things_in_few_queries(
    as_alice: Api, mira: Companion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    """Each proposal is searched for, with as many queries however much it finds."""
    keep_fact(mira.pk, "Marta is pregnant, note 0.", EARLIER, EARLIER, [])
    asked(mira)
    get_list(as_alice, mira)  # the token is noted as used
    read_providers()
    with django_assert_num_queries(LIST_QUERIES + PROPOSAL_QUERIES):
        assert get_list(as_alice, mira)["items"][0]["more"] == 0
    for number in range(1, MAX_SHOWN + 2):
        keep_fact(mira.pk, f"Marta is pregnant, note {number}.", EARLIER, EARLIER, [])
    read_providers()
    with django_assert_num_queries(LIST_QUERIES + PROPOSAL_QUERIES):
        (listed,) = get_list(as_alice, mira)["items"]
    assert (len(listed["items"]), listed["more"]) == (MAX_SHOWN, 4)  # with what was said
    ForgetProposal.objects.update(state="declined")
    with django_assert_num_queries(LIST_QUERIES):
        assert get_list(as_alice, mira, "?state=declined")["items"][0]["items"] == []


def test_few_proposals_stand_open_at_a_time(as_alice: Api, mira: Companion) -> None:
    keep_fact(mira.pk, "Marta is pregnant.", EARLIER, EARLIER, [])
    for number in range(MAX_OPEN + 1):
        turn = turn_of(
            mira, f"Please forget that Marta is pregnant, {number}.", NOW + timedelta(minutes=number)
        )
        propose(mira, turn.reply.pk, ["Marta is pregnant"], NOW + timedelta(minutes=number))
        end(turn)
    states = list(ForgetProposal.objects.order_by("made_at").values_list("state", "subject"))
    assert states[0] == ("lapsed", "")
    assert [state for state, _subject in states[1:]] == ["open"] * MAX_OPEN
    page = get_list(as_alice, mira, "?limit=4")
    assert len(page["items"]) == 4
    assert len(get_list(as_alice, mira, f"?limit=4&cursor={page['next']}")["items"]) == 4
    assert len(get_list(as_alice, mira)["items"]) == MAX_OPEN


@pytest.mark.parametrize("keys", [["x" * 101], ["x"] * 1001])
def test_more_keys_than_can_be_shown_are_refused(as_alice: Api, mira: Companion, keys: list[str]) -> None:
    keep_fact(mira.pk, "Marta is pregnant.", EARLIER, EARLIER, [])
    path = f"/companions/{mira.pk}/forget-proposals/{asked(mira).pk}/confirm"
    answer = as_alice.post(path, {"keys": keys})
    assert answer.status_code == 422
    assert ForgetProposal.objects.get().state == "open"


PARAPHRASE = "Alice's sister is expecting a baby."


@pytest.mark.parametrize("chosen", [True, False])
def test_what_tells_it_in_other_words_goes_where_it_is_chosen(
    client: Client, mira: Companion, as_alice: Api, chosen: bool
) -> None:
    """It is offered, and nothing of it is ticked."""
    said = say(mira, "My sister is expecting a baby in spring!", "The trams are loud.", at=EARLIER)
    near = keep_fact(mira.pk, PARAPHRASE, EARLIER, EARLIER, [said[0].pk])
    for week in range(6):  # nearer still, but they tell it themselves
        keep_fact(mira.pk, f"Marta is pregnant since week {week}.", EARLIER, EARLIER, [])
    embed_all()
    proposal = asked(mira)
    items = load_items(proposal)
    assert [item.text for item in items if item.is_near] == [PARAPHRASE, said[0].text]
    client.force_login(mira.user)
    page = client.get(f"/companions/{mira.pk}/").content.decode()
    assert f'value="memory:{near.pk}">' in page
    assert page.count("checked><span>") == len([item for item in items if not item.is_near])
    keys = [item.key for item in items if item.text == PARAPHRASE or not item.is_near] if chosen else None
    path = f"/companions/{mira.pk}/forget-proposals/{proposal.pk}/confirm"
    assert as_alice.post(path, {"keys": keys}).status_code == 200
    assert Memory.objects.filter(pk=near.pk).exists() is not chosen
    assert Message.objects.get(pk=said[0].pk).is_hidden is chosen
    assert not Message.objects.get(pk=said[1].pk).is_hidden
    assert not tables_with("pregnant")
