"""Who a companion is, on its page: its texts with what they take, a try-out beside them, and their versions."""

import asyncio
import contextlib
import json
from time import thread_time
from typing import Any

import pytest
from django.test import AsyncClient, Client
from django.utils import timezone

from accounts.models import ModelCall
from cards.lorebooks import normalise_book
from companions.character_versions import compare_texts
from companions.lore.editing import make_book
from companions.models import CharacterVersion, Companion, InnerState, LoreFiring, Message, Prompt, Reply
from companions.models.character_version import MAX_VERSIONS
from jobs.background import in_thread
from memory.models import Memory, Recall, Recalled
from memory.store import keep_fact
from providers.tokens import estimate
from tests.fixtures.rehearsal import RehearsalServer

NOW = timezone.now()
ON_THE_LOOP = pytest.mark.django_db(transaction=True)


def fields(companion: Companion, **changed: str) -> dict[str, str]:
    sent = {"name": companion.name, "persona": companion.persona, "greeting": "", "tint": "40"}
    return {**sent, **changed}


def change(companion: Companion, **texts: Any) -> None:
    for name, text in texts.items():
        setattr(companion, name, text)
    companion.save(changed_by=CharacterVersion.By.PAGE, now=NOW)


# -- what they take


def test_unsaved_texts_are_counted_as_they_would_stand_in_a_prompt(at_home: Client, mira: Companion) -> None:
    texts = {
        "persona": "{{char}} is calm. " * 20,
        "greeting": "Hello, {{user}}.",
        "post_history_instructions": "Rhyme.",
    }
    told = at_home.post(f"/companions/{mira.pk}/about/count/", fields(mira, **texts)).json()
    assert told["counts"]["persona"] == f"about {estimate('Mira is calm. ' * 20)} word pieces"
    assert told["counts"]["scenario"] == ""
    block = "<kith-persona>\n" + "Mira is calm. " * 20 + "</kith-persona>"
    assert f"about {estimate(block + 'Rhyme.')} of the 8,192 word pieces" in told["total"]
    assert "The greeting takes 4, but only once." in told["total"]
    assert not told["warning"]
    mira.refresh_from_db()
    assert mira.persona == "Mira is calm and curious."


def test_lore_that_is_always_read_counts_and_a_text_too_long_for_its_field_is_still_counted(
    at_home: Client, mira: Companion
) -> None:
    path = f"/companions/{mira.pk}/about/count/"
    before = at_home.post(path, fields(mira)).json()["total"]
    entry = {"keys": [], "constant": True, "content": "The realm lies below the lake. " * 30}
    make_book(mira.user, normalise_book({"name": "Realm", "entries": [entry]}), NOW, companion=mira)
    assert at_home.post(path, fields(mira)).json()["total"] != before
    assert (
        at_home.post(path, fields(mira, persona="a " * 20_001)).json()["counts"]["persona"]
        == "about 20,001 word pieces"
    )


def test_a_character_that_leaves_no_room_is_warned_of_before_it_is_saved(
    at_home: Client, mira: Companion
) -> None:
    path = f"/companions/{mira.pk}/about/"
    told = at_home.post(f"{path}count/", fields(mira, persona="长" * 30_000)).json()
    assert "Mira will forget what you have just said within a few messages" in told["warning"]
    at_home.post(path, fields(mira, persona="长" * 30_000))
    page = at_home.get(path).content.decode()
    assert "about 30,000 word pieces" in page
    # A message, and beside the form.
    assert page.count("Mira will forget what you have just said within a few messages") == 2


# -- the try-out


async def lines(response: Any) -> list[dict[str, Any]]:
    content = b"".join([part async for part in response.streaming_content])
    return [json.loads(line) for line in content.splitlines()]


@ON_THE_LOOP
@pytest.mark.usefixtures("web")
async def test_unsaved_texts_are_tried_out_and_nothing_is_kept(
    async_client: AsyncClient, mira: Companion, rehearsal: RehearsalServer
) -> None:
    def counted() -> list[int]:
        kept = (Message, Memory, Reply, Prompt, Recall, InnerState, LoreFiring, CharacterVersion)
        return [model._base_manager.count() for model in kept]

    def keep_book() -> None:
        entry = {"keys": ["lake"], "content": "The lake is deep.", "extensions": {"sticky": 3}}
        make_book(mira.user, normalise_book({"name": "R", "entries": [entry]}), NOW, companion=mira)

    await in_thread(keep_book)
    await async_client.aforce_login(mira.user)
    before = await in_thread(counted)
    rehearsal.script({"answer": "<emotion happy 0.5> Deep, dear."})
    texts = fields(mira, persona="{{char}} is a diver.", greeting="Ahoy, {{user}}.", text="How is the lake?")
    response = await async_client.post(f"/companions/{mira.pk}/about/try/", texts)
    told = await lines(response)
    assert told[0] == {"rehearsed": True}
    assert "".join(line.get("piece", "") for line in told) == "Deep, dear."
    assert told[-1] == {"done": True, "recalled": ""}
    sent = rehearsal.requests()[-1]["messages"]
    assert "Mira is a diver." in sent[0]["content"]
    assert "The lake is deep." in sent[0]["content"]
    assert sent[1]["content"].startswith("Ahoy,")
    assert "How is the lake?" in sent[-1]["content"]
    assert await in_thread(counted) == before
    call = await ModelCall.objects.aget(purpose=ModelCall.Purpose.TRIAL)
    assert (call.user_id, call.companion_id, call.outcome) == (mira.user_id, mira.pk, "done")
    assert call.prompt_tokens > 100


@ON_THE_LOOP
@pytest.mark.usefixtures("web")
async def test_a_try_out_remembers_as_a_talk_does_and_keeps_nothing_of_it(
    async_client: AsyncClient, mira: Companion, rehearsal: RehearsalServer
) -> None:
    def state() -> list[Any]:
        kept = Memory.objects.of(mira.pk).values_list("pk", "times_recalled", "recalled_at", "joy")
        return [*kept, Recall.objects.count(), Recalled.objects.count()]

    text = "The walnut tree behind the house was planted in 1987."
    await in_thread(lambda: keep_fact(mira.pk, text, NOW, NOW, zone=mira.user.zone))
    await async_client.aforce_login(mira.user)
    before = await in_thread(state)
    rehearsal.script({"answer": "The walnut? In 1987."}, {"answer": "Good."})
    asked = fields(mira, text="How old is the walnut tree?")
    told = await lines(await async_client.post(f"/companions/{mira.pk}/about/try/", asked))
    assert text in rehearsal.requests()[-1]["messages"][-1]["content"]
    assert "walnut tree behind the house" in told[-1]["recalled"]
    assert "because you spoke of tree, walnut" in told[-1]["recalled"]
    told = await lines(
        await async_client.post(f"/companions/{mira.pk}/about/try/", fields(mira, text="Fine!"))
    )
    assert told[-1] == {"done": True, "recalled": ""}
    assert await in_thread(state) == before
    assert [request["messages"][-1]["role"] for request in rehearsal.requests()] == ["user", "user"]


@ON_THE_LOOP
@pytest.mark.usefixtures("web")
async def test_a_try_out_that_is_left_is_stopped_and_paid_for(
    async_client: AsyncClient, mira: Companion, rehearsal: RehearsalServer
) -> None:
    await async_client.aforce_login(mira.user)
    rehearsal.script({"answer": "word " * 50, "delay_between": 0.05})
    response = await async_client.post(f"/companions/{mira.pk}/about/try/", fields(mira, text="Hello"))
    heard = asyncio.Event()

    async def listen() -> None:
        async for _line in response.streaming_content:
            heard.set()

    listening = asyncio.create_task(listen())
    await heard.wait()
    await asyncio.sleep(0.2)
    listening.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await listening
    call = await ModelCall.objects.aget(purpose=ModelCall.Purpose.TRIAL)
    assert call.outcome == "stopped"
    assert call.prompt_tokens > 100


@ON_THE_LOOP
@pytest.mark.usefixtures("web")
async def test_a_model_that_fails_is_told_in_plain_words(
    async_client: AsyncClient, mira: Companion, rehearsal: RehearsalServer
) -> None:
    await async_client.aforce_login(mira.user)
    rehearsal.script({"error": {"status": 500}})
    response = await async_client.post(f"/companions/{mira.pk}/about/try/", fields(mira, text="Hello"))
    assert "cannot be reached right now" in (await lines(response))[-1]["error"]
    call = await ModelCall.objects.aget(purpose=ModelCall.Purpose.TRIAL)
    assert call.outcome == "unavailable"


@ON_THE_LOOP
@pytest.mark.parametrize(
    ("sent", "tokens", "code"),
    [
        ({"text": " "}, None, "empty_message"),
        ({"text": "x" * 32_001}, None, "message_too_long"),
        ({"text": "Hi", "persona": "p" * 40_001}, None, "not_valid"),
        ({"text": "Hi"}, 0, "no_tokens_left"),
    ],
)
async def test_a_try_out_has_the_limits_of_a_talk_and_of_the_form(
    async_client: AsyncClient,
    mira: Companion,
    rehearsal: RehearsalServer,
    sent: dict[str, str],
    tokens: int | None,
    code: str,
) -> None:
    mira.user.tokens_per_day = tokens
    await mira.user.asave()
    await async_client.aforce_login(mira.user)
    response = await async_client.post(f"/companions/{mira.pk}/about/try/", fields(mira, **sent))
    assert response.status_code in (422, 429)
    assert response.json()["code"] == code
    assert not rehearsal.requests()


# -- versions


def test_what_is_saved_keeps_what_stood_there_before_and_it_can_hold_again(
    at_home: Client, mira: Companion
) -> None:
    path = f"/companions/{mira.pk}/about/"
    at_home.post(path, fields(mira, persona="Mira is loud and curious.", tint="220"))
    former = mira.versions.get()
    assert former.texts["persona"] == "Mira is calm and curious."
    assert (former.changed, former.changed_by) == (["persona"], "page")
    assert "1 earlier version" in at_home.get(path).content.decode()
    assert "Persona" in at_home.get(f"{path}versions/").content.decode()
    page = at_home.get(f"{path}versions/{former.pk}/").content.decode()
    assert '<del><span class="unseen">removed: </span>calm' in page
    assert '<ins><span class="unseen">added: </span>loud' in page
    assert "Everything changed since then" not in page  # that is the same
    assert at_home.post(f"{path}versions/{former.pk}/restore/").status_code == 302
    mira.refresh_from_db()
    assert (mira.persona, mira.tint) == ("Mira is calm and curious.", 220)
    newest = mira.versions.first()
    assert newest
    assert (newest.texts["persona"], newest.changed_by) == ("Mira is loud and curious.", "restore")
    at_home.post(f"{path}versions/{former.pk}/restore/")
    assert mira.versions.count() == 2  # it holds already


def test_an_older_version_is_compared_with_the_next_and_with_the_current_one(
    at_home: Client, mira: Companion
) -> None:
    path = f"/companions/{mira.pk}/about/"
    for persona in ("Mira is loud.", "Mira is patient."):
        mira.persona = persona
        mira.save(update_fields=["persona"])
    first, second = mira.versions.order_by("number")
    page = at_home.get(f"{path}versions/{first.pk}/").content.decode()
    changed_then, since = page.split("Everything changed since then")
    assert ("loud" in changed_then, "patient" in changed_then) == (True, False)
    assert ("loud" in since, "patient" in since) == (False, True)
    mira.persona = second.texts["persona"]
    mira.save(update_fields=["persona"])
    page = at_home.get(f"{path}versions/{second.pk}/").content.decode()
    assert "patient" in page
    assert "Everything changed since then" not in page
    assert "That is already the current version." in page


def test_saving_what_is_no_text_or_the_same_keeps_no_version(mira: Companion) -> None:
    mira.tint = 220
    mira.save()
    mira.save(update_fields=["persona"])
    mira.persona = "Never written."
    mira.save(update_fields=["tint"])
    assert not mira.versions.exists()


def test_no_writer_goes_round_the_versions(mira: Companion) -> None:
    with pytest.raises(TypeError):
        Companion.objects.filter(pk=mira.pk).update(persona="Other.")
    mira.persona = "Other."
    with pytest.raises(TypeError):
        Companion.objects.bulk_update([mira], ["persona"])


def test_the_last_hundred_versions_are_kept_within_their_bytes(mira: Companion) -> None:
    versions = [
        CharacterVersion(
            companion=mira,
            number=n,
            texts={},
            changed=["name"],
            changed_by="page",
            changed_at=NOW,
            size=10_000,
        )
        for n in range(1, MAX_VERSIONS + 1)
    ]
    CharacterVersion.objects.bulk_create(versions)
    change(mira, persona="Other.")
    numbers = list(mira.versions.values_list("number", flat=True))
    assert numbers == list(range(MAX_VERSIONS + 1, 1, -1))
    mira.versions.filter(number__gt=51).update(size=100_000)
    change(mira, persona="Another.")
    numbers = list(mira.versions.values_list("number", flat=True))
    assert (numbers[0], len(numbers)) == (102, 40)  # 39 of 100 kB beside the newest


def test_a_change_is_shown_with_what_is_near_it_and_the_rest_left_out() -> None:
    sentences = [f"Sentence {n} stands. " for n in range(20)]
    after = [*sentences[:10], "Sentence ten lies down. ", *sentences[11:]]
    (difference,) = compare_texts({"persona": "".join(sentences)}, {"persona": "".join(after)})
    shown = ["".join(piece.text for piece in pieces if piece.how != "new") for pieces in difference.passages]
    assert shown == ["…", "Sentence 9 stands.", "Sentence 10 stands.", "Sentence 11 stands.", "…"]


def test_texts_of_very_many_lines_are_compared_at_once() -> None:
    began = thread_time()
    (difference,) = compare_texts({"persona": "a\n" * 20_000}, {"persona": "a\n" * 19_999 + "b"})
    assert [piece.how for pieces in difference.passages for piece in pieces] == ["gone", "new"]
    assert thread_time() - began < 1
