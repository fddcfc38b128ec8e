"""What comes to mind while a talk goes on, in the prompts as sent: over HTTP, with real replies."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from companions.memories.reasons import describe_reasons
from companions.models import Companion, Message, Prompt
from companions.pasts.log_import import Line, import_log
from jobs.background import in_thread
from memory.admin.absence import Absence, explain_absences, list_left_out
from memory.embedding import embed_waiting
from memory.models import Memory, Recall
from memory.store import keep_fact, retract
from tests.companions import talking
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.rest import Api
from tests.fixtures.turns import end_session

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("web")]
NOW = timezone.now()
SAID = (
    "Tiago is the student who never sleeps; he failed chemistry.",
    "Poor Tiago.",
    "My best friend is called Marta.",
    "How nice.",
    "Marta's sister Lena builds violins in Porto.",
    "What a craft.",
)
TIAGO = SAID[0]


@pytest.fixture(autouse=True)
def _told(mira: Companion, settings: Any) -> None:
    """Mira was told of Tiago, Marta and Lena a month ago, in a session that is over."""
    settings.FLASHBACK_PROBABILITY, settings.MESSAGES_PER_MINUTE = 0.0, 1000
    at = NOW - timedelta(days=30)
    lines = [
        Line(role=("user", "assistant")[n % 2], text=text, at=at + timedelta(minutes=n))
        for n, text in enumerate(SAID)
    ]
    import_log(mira, lines, NOW)
    embed_waiting(mira.pk)
    end_session(mira)


async def say(api: Api, companion: Companion, text: str) -> list[dict[str, Any]]:
    """The prompt of the answer to this message, as sent."""
    answer = (await api.apost(f"/companions/{companion.pk}/messages", {"text": text})).json()
    assert answer["reply"]["state"] == "done", answer
    prompt: list[dict[str, Any]] = (
        await in_thread(Prompt.objects.get, reply=answer["reply"]["id"], round=1)
    ).messages
    return prompt


def chat_on(companion: Companion, turns: int) -> None:
    """So many turns of small talk go by in the open session."""
    said = ("And so the day goes on, with little to tell of it but rain and rain.", "Mm, I see. " * 12)
    talking.say(companion, *said * turns, at=timezone.now())


def remembered(prompt: list[dict[str, Any]]) -> str:
    """What the prompt says of what came to mind."""
    return str(prompt[-1]["content"]).partition("Remembered:\n")[2].partition("</kith-context>")[0]


def load_left_out(companion: Companion) -> dict[str, Absence]:
    """What the newest turn left out, by the text of each memory."""
    recall = Recall.objects.filter(companion=companion).latest("at")
    return {absence.memory.text: absence for absence in list_left_out([recall])}


def why_not(text: str, recall: Recall) -> str:
    (absence,) = explain_absences(Memory.objects.get(text=text), [recall])
    return str(absence.why)


async def test_what_was_shown_comes_again_and_small_talk_brings_nothing(
    as_alice: Api, mira: Companion, rehearsal: RehearsalServer, settings: Any
) -> None:
    """A session of sixty turns, whose context holds a few of them, never loses what it showed."""
    settings.CONTEXT_TOKENS, settings.ANSWER_TOKENS = 3000, 300
    rehearsal.script({"answer": "Mm, I see. " * 12, "repeat": 100})
    question = "What did I tell you about Tiago?"
    assert TIAGO in remembered(await say(as_alice, mira, question))
    for _ in range(3):
        await in_thread(chat_on, mira, 14)
        for text in ("hey", "mm, ok", "nice weather", "thanks"):
            assert remembered(await say(as_alice, mira, text)) == ""
        last = await say(as_alice, mira, question)
        assert TIAGO in remembered(last)
    assert question not in remembered(last)
    assert len(last) < 60  # most of the session is not in the prompt any more


async def test_a_long_message_brings_what_each_of_its_sentences_would(as_alice: Api, mira: Companion) -> None:
    said = "I baked bread all morning and the oven smoked. Is Tiago well? Marta's sister wrote me a card."
    prompt = await say(as_alice, mira, said)
    assert TIAGO in remembered(prompt)
    assert SAID[4] in remembered(prompt)


async def test_the_tool_finds_by_name_what_was_shown_before(
    as_alice: Api, mira: Companion, rehearsal: RehearsalServer
) -> None:
    assert TIAGO in remembered(await say(as_alice, mira, "Do you remember Tiago?"))
    call = {"id": "1", "name": "recall", "arguments": {"words": "Tiago student", "count": 5}}
    rehearsal.reset()
    rehearsal.script({"tool_calls": [call]}, {"answer": "He failed chemistry."})
    await say(as_alice, mira, "And what about his exam?")
    (result,) = [line["content"] for line in rehearsal.requests()[-1]["messages"] if line["role"] == "tool"]
    assert TIAGO in result
    assert '"what": "Alice said"' in result


async def test_an_outdated_line_never_comes_without_what_holds_instead(
    as_alice: Api, mira: Companion, rehearsal: RehearsalServer
) -> None:
    def change() -> None:
        line = Memory.objects.get(text=TIAGO).message_id
        before = keep_fact(mira.pk, "Tiago failed chemistry.", NOW, NOW, source_ids=[line] if line else [])
        retract(before, NOW, replaced_by=keep_fact(mira.pk, "He passed at the second attempt.", NOW, NOW))

    await in_thread(change)
    call = {"id": "1", "name": "recall", "arguments": {"words": "Tiago chemistry", "count": 5}}
    rehearsal.script({"tool_calls": [call]}, {"answer": "Not any more."})
    told = remembered(await say(as_alice, mira, "Did Tiago fail chemistry?"))
    assert 'Fact: "He passed at the second attempt."' in told
    assert f'Alice said, no longer true: "{TIAGO}"' in told
    (result,) = [line["content"] for line in rehearsal.requests()[-1]["messages"] if line["role"] == "tool"]
    assert "He passed at the second attempt." in result


async def test_what_holds_instead_comes_once_also_if_it_comes_to_mind_unasked(
    as_alice: Api, mira: Companion, settings: Any
) -> None:
    def change() -> None:
        line = Memory.objects.get(text=TIAGO).message_id
        before = keep_fact(mira.pk, "Tiago failed chemistry.", NOW, NOW, source_ids=[line] if line else [])
        holds = keep_fact(mira.pk, "He passed at the second attempt.", NOW, NOW)
        retract(before, NOW, replaced_by=holds)
        Memory.objects.update(recalled_at=timezone.now())  # no flashback: they came to mind just now
        Memory.objects.filter(pk=holds.pk).update(joy=0.9)

    await in_thread(change)
    settings.FLASHBACK_PROBABILITY = 1.0
    prompt = str(await say(as_alice, mira, "Did Tiago fail chemistry?"))
    assert prompt.count("He passed at the second attempt.") == 1
    assert "Just came to mind, unasked" in prompt


async def test_what_stands_in_the_talk_as_sent_is_not_remembered_beside(
    as_alice: Api, mira: Companion
) -> None:
    await say(as_alice, mira, "My neighbour Rosa keeps bees on the roof.")
    prompt = await say(as_alice, mira, "Do you remember who keeps bees?")
    assert "Rosa" not in remembered(prompt)
    assert "Rosa" in str(prompt[1:-1])


async def test_a_summary_never_stands_for_its_lines(
    as_alice: Api, mira: Companion, rehearsal: RehearsalServer, settings: Any
) -> None:
    settings.CONTEXT_TOKENS, settings.ANSWER_TOKENS = 3000, 300
    rehearsal.script({"answer": "Mm, I see.", "repeat": 100})
    await say(as_alice, mira, "My neighbour Rosa keeps bees on the roof.")
    await in_thread(mira.sessions.filter(ended_at=None).update, summary="Rosa, the neighbour, keeps bees.")
    await in_thread(chat_on, mira, 40)
    prompt = await say(as_alice, mira, "Who keeps bees on the roof?")
    assert "Rosa, the neighbour, keeps bees." in prompt[0]["content"]
    assert "Rosa" not in str(prompt[1:-1])
    assert "My neighbour Rosa keeps bees on the roof." in remembered(prompt)


async def test_a_message_is_read_with_the_talk_that_it_leans_on(
    as_alice: Api, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"answer": "Mm, I see.", "repeat": 10})
    await say(as_alice, mira, "I saw a ship today.")
    assert "Lena" not in remembered(await say(as_alice, mira, "How was it?"))
    await say(as_alice, mira, "Lena writes so rarely.")
    assert "Lena builds violins" in remembered(await say(as_alice, mira, "How is she?"))
    recall = (await in_thread(list, Recall.objects.order_by("-at").prefetch_related("found")))[0]
    assert recall.cue == "How is she?"  # no more: what it was read with may be deleted
    reasons = [one.reasons for one in recall.found.all()]
    assert all(one["with_talk"] for one in reasons)
    assert "understood from what was said before" in describe_reasons(reasons[0], "Lena")
    await in_thread(lambda: Message.objects.filter(text="Lena writes so rarely.").update(is_hidden=True))
    assert "Lena builds" not in remembered(await say(as_alice, mira, "How is she?"))


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("My sister Ida is a pilot.", "Is my sister Ida a pilot?"),
        ("I visited Bergen.", "When did I visit Bergen?"),
        ("I eat no meat.", "Do I eat meat?"),
    ],
)
async def test_a_question_in_the_words_of_its_answer_finds_it(
    as_alice: Api, mira: Companion, said: str, question: str
) -> None:
    await say(as_alice, mira, said)
    await in_thread(embed_waiting, mira.pk)
    await in_thread(end_session, mira)
    assert said in remembered(await say(as_alice, mira, question))


async def test_a_flashback_comes_beside_whatever_is_recalled(
    as_alice: Api, mira: Companion, settings: Any
) -> None:
    for number in range(12):
        await in_thread(keep_fact, mira.pk, f"Tiago owns bicycle number {number}.", NOW, NOW)
    settings.FLASHBACK_PROBABILITY = 1.0
    await in_thread(Memory.objects.filter(text=SAID[4]).update, joy=0.9)
    prompt = await say(as_alice, mira, "Which bicycles does Tiago own?")
    assert len(remembered(prompt).splitlines()) == 8
    assert "Just came to mind, unasked" in str(prompt[-1]["content"])


async def test_what_was_learnt_comes_before_what_was_said(as_alice: Api, mira: Companion) -> None:
    await in_thread(keep_fact, mira.pk, "Tiago wants to be a chemistry teacher.", NOW, NOW)
    lines = remembered(await say(as_alice, mira, "What do you know of Tiago and chemistry?")).splitlines()
    assert lines[0].endswith('Fact: "Tiago wants to be a chemistry teacher."')
    assert lines[1].endswith(f'Alice said: "{TIAGO}"')


async def test_what_is_pinned_in_the_prompt_is_not_remembered_beside(as_alice: Api, mira: Companion) -> None:
    fact = await in_thread(keep_fact, mira.pk, "Alice is allergic to walnuts.", NOW, NOW)
    assert fact.text in remembered(await say(as_alice, mira, "May I eat walnuts?"))
    path = f"/companions/{mira.pk}/slots/allergies"
    assert (
        await in_thread(as_alice.call, "PUT", path, {"text": "Alice is allergic to walnuts, badly."})
    ).status_code < 300
    assert fact.text not in remembered(await say(as_alice, mira, "And may I eat walnuts now?"))


async def test_why_an_answer_went_without_a_memory_is_noted(as_alice: Api, mira: Companion) -> None:
    """Others fitted better; it is pinned; it was in the talk as sent; it has too little to do with it."""
    await say(as_alice, mira, "Lena came by.")
    for number in range(12):
        await in_thread(keep_fact, mira.pk, f"Tiago owns bicycle number {number}.", NOW, NOW)
    shown = remembered(await say(as_alice, mira, "Which bicycles does Tiago own?")).count("bicycle number")
    bicycles = await in_thread(load_left_out, mira)
    reasons = [str(one.why) for text, one in bicycles.items() if text.startswith("Tiago owns bicycle")]
    assert reasons == ["others fitted better"] * (12 - shown)

    fact = await in_thread(keep_fact, mira.pk, "Alice is allergic to walnuts.", NOW, NOW)
    path = f"/companions/{mira.pk}/slots/allergies"
    await in_thread(as_alice.call, "PUT", path, {"text": "Alice is allergic to walnuts, badly."})
    await say(as_alice, mira, "May I eat walnuts?")
    left_out = await in_thread(load_left_out, mira)
    marta, pinned = left_out["My best friend is called Marta."], left_out[fact.text]
    assert marta.why == "it had too little to do with what was said"
    assert (marta.bearing or 1) < (marta.least or 0)
    assert pinned.why == "it says the same as something else in the prompt"
    assert "Alice is allergic to walnuts, badly." in pinned.line
    assert await in_thread(why_not, "Lena came by.", pinned.recall) == "it was in the prompt already"
    await in_thread(Prompt.objects.update, messages=[{"role": "system", "content": "You are Mira."}])
    assert await in_thread(why_not, "Lena came by.", pinned.recall) != "it was in the prompt already"
    small_talk = "it only asks or makes small talk, which never comes by itself"
    assert await in_thread(why_not, SAID[3], pinned.recall) == small_talk


async def test_a_memory_counts_once_in_a_session_however_often_it_is_shown(
    as_alice: Api, mira: Companion
) -> None:
    for _ in range(3):
        assert TIAGO in remembered(await say(as_alice, mira, "Do you remember Tiago?"))
    memory = await in_thread(Memory.objects.get, text=TIAGO)
    assert memory.times_recalled == 1
