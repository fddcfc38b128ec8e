"""A reply's page shows how it came to be; a memory's page where it comes from and who found it. No page asks N+1."""

import html
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import ModelCall, User
from companions.admin.reply import format_json, load_rounds, measure_stretches
from companions.models import Companion, Job, Message, Mind, Prompt, Reply
from config.admin.sidebar import list_rooms
from memory.admin.memories import RECALLS_PER_PAGE
from memory.models import Memory, Recall, Recalled
from memory.store import keep_fact
from tests.admin.conftest import NOON, Scene, ask
from tests.admin.walk import ALL, MARKER, name_of, page


def shown(desk: Client, address: str) -> str:
    return html.unescape(desk.get(address).content.decode())


def test_a_replys_page_shows_its_whole_trace(desk: Client, scene: Scene) -> None:
    text = shown(desk, page(scene.reply))
    for expected in (
        f"Do you remember my {MARKER}?",
        f"You like {MARKER}.",
        f"Thinking of {MARKER}.",
        f"You are {MARKER}.",
        f"Alice keeps a {MARKER}.",
        '"name": "recall"',
        f'"cue": "{MARKER} again"',
        "0.813",
        "likeness",
        "0.71",
        "<b>curious</b> 0.4",
        "300 tokens sent (100 from the cache), 14 received",
        "first piece after 321 ms, 800 ms in all",
        "40 ms",
        "700 ms",
        "1500 ms",
        "until then 321 ms for the model and its queue, 0 ms for tools, 379 ms for Kith itself",
        "2 messages, as in the round before",
        page(scene.fact),
        page(scene.recall),
        page(scene.call),
        page(scene.message),
    ):
        assert expected in text, expected


def test_a_failed_replys_page_shows_the_providers_own_words(desk: Client, scene: Scene) -> None:
    Reply.objects.filter(pk=scene.reply.pk).update(state="failed", code="provider_refused", answer=None)
    ModelCall.objects.filter(pk=scene.call.pk).update(outcome="refused", said="429: slow down <please>")
    text = shown(desk, page(scene.reply))
    assert "provider_refused" in text
    assert "429: slow down <please>" in text


def test_what_the_model_wrote_stands_in_the_trace_where_something_else_became_of_it(
    desk: Client, scene: Scene
) -> None:
    prompt = Prompt.objects.filter(reply=scene.reply).latest("round")
    assert "What the model wrote" not in shown(desk, page(scene.reply))
    Prompt.objects.filter(pk=prompt.pk).update(wrote="Hello!<|im_end|> Ana: hi")
    assert "Hello!<|im_end|> Ana: hi" in shown(desk, page(scene.reply))
    assert "Hello!<|im_end|> Ana: hi" in shown(desk, page(prompt))


def test_how_the_context_is_filled_is_measured_by_the_companions_own_mind(scene: Scene) -> None:
    Mind.objects.update_or_create(companion=scene.companion, defaults={"context_tokens": 4096})
    usage = load_rounds(scene.reply)[0].usage
    assert usage
    assert usage.size == 4096


def test_a_reply_whose_prompts_are_gone_still_has_its_page(desk: Client, scene: Scene) -> None:
    Prompt.objects.all().delete()
    assert "No longer kept" in shown(desk, page(scene.reply))


def test_a_reply_that_has_only_been_asked_for_has_its_page(desk: Client, scene: Scene) -> None:
    waiting = Reply.objects.create(companion=scene.companion, message=scene.message, created_at=NOON)
    assert "No recall took place." in shown(desk, page(waiting))


def test_a_call_of_background_work_shows_what_was_sent_and_what_came_back(desk: Client, scene: Scene) -> None:
    call = ModelCall.objects.get(pk=scene.call.pk)
    call.sent, call.received = (
        [{"role": "user", "content": f"Learn <{MARKER}>"}],
        {"text": f"{MARKER} learnt"},
    )
    call.reply, call.purpose = None, ModelCall.Purpose.LEARNING
    call.save()
    text = shown(desk, page(call))
    assert f"Learn <{MARKER}>" in text
    assert f"{MARKER} learnt" in text
    ModelCall.objects.filter(pk=call.pk).forget_words()
    assert "No longer kept" in shown(desk, page(call))


def test_what_a_person_wrote_is_text_and_nothing_else(desk: Client, scene: Scene) -> None:
    message = ask(scene.companion, "<script>alert(1)</script>", NOON)
    raw = desk.get(page(message)).content.decode()
    assert "<script>alert(1)" not in raw
    assert "&lt;script&gt;alert(1)" in raw


def test_stretches_add_up(scene: Scene) -> None:
    assert [stretch.milliseconds for stretch in measure_stretches(scene.reply)] == [40, 700, 1500]
    scene.reply.first_piece_at = None
    assert [stretch.milliseconds for stretch in measure_stretches(scene.reply)] == [40, 2200]


def test_json_in_a_string_is_opened_and_other_text_is_left() -> None:
    assert format_json('{"cue": "猫"}') == '{\n  "cue": "猫"\n}'
    for text in ("not json", "[" * 3_000):
        assert format_json(text) == text


def test_a_memorys_page_shows_its_sources_and_its_recalls(desk: Client, scene: Scene) -> None:
    text = shown(desk, page(scene.fact))
    for expected in (
        f"Alice keeps a {MARKER}.",
        "all-MiniLM-L6-v2: 1 window, 3 numbers each",
        page(scene.message),
    ):
        assert expected in text
    assert f"Do you remember my {MARKER}?" in text
    assert page(scene.recall) in text
    assert page(scene.reply) in text


def test_the_pages_of_answer_and_memory_say_why_it_went_without_it(desk: Client, scene: Scene) -> None:
    other = keep_fact(scene.companion.pk, f"Alice feeds the {MARKER} leaves.", NOON, NOON)
    left_out = [{"memory": str(other.pk), "reason": "floor", "bearing": 0.06, "least": 0.2}]
    Recall.objects.filter(pk=scene.recall.pk).update(left_out=left_out)
    reason = "It had too little to do with what was said"
    assert reason in shown(desk, page(other))
    assert page(scene.reply) in shown(desk, page(other))
    for thing in (scene.reply, scene.recall):
        assert reason in shown(desk, page(thing))
        assert page(other) in shown(desk, page(thing))


def test_a_memorys_recalls_come_in_pages(desk: Client, scene: Scene) -> None:
    recalls = Recall.objects.bulk_create(
        Recall(companion=scene.companion, by="api", cue="x", at=NOON + timedelta(hours=n), milliseconds=1)
        for n in range(1, RECALLS_PER_PAGE + 1)
    )
    Recalled.objects.bulk_create(
        Recalled(recall=recall, memory=scene.fact, rank=1, score=1, reasons={}) for recall in recalls
    )
    assert page(scene.recall) not in shown(desk, page(scene.fact))
    assert page(scene.recall) in shown(desk, page(scene.fact) + "?recalls=2")


def test_a_replys_page_asks_as_often_for_much_as_for_little(
    desk: Client, scene: Scene, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for n in range(10):
        fact = keep_fact(scene.companion.pk, f"{MARKER} {n}", NOON, NOON, source_ids=[scene.message.pk])
        Recalled.objects.create(recall=scene.recall, memory=fact, rank=n + 2, score=0.1, reasons={})
    desk.get(page(scene.reply))
    with django_assert_max_num_queries(20):
        desk.get(page(scene.reply))


def make_new(scene: Scene) -> None:
    """Have all of the scene be made now: a midnight may have passed since the module made it."""
    now = timezone.now()
    User.objects.update(date_joined=now)
    Companion.objects.filter(pk=scene.companion.pk).update(created_at=now)
    Message.everywhere.filter(companion=scene.companion).update(created_at=now)


def test_the_first_page_tells_the_day(
    desk: Client, scene: Scene, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    make_new(scene)
    ModelCall.objects.filter(pk=scene.call.pk).update(outcome="unavailable")
    with django_assert_max_num_queries(20):
        response = desk.get(reverse("admin:index"))
    assert response.status_code == 200
    numbers = {one.name: (one.number, one.more) for one in response.context["numbers"]}
    assert numbers["People"] == (3, "3 new today")
    assert numbers["Companions"] == (1, "1 new today")
    assert numbers["Messages today"] == (3, "from 1 person")
    assert set(response.context["health"]) == {"database", "redis", "worker", "beat", "disk", "chat"}
    assert response.context["health"]["database"] == "ok"
    assert "<b>database</b> works" in response.content.decode()


def test_each_number_of_the_day_leads_to_the_list_that_it_counts(desk: Client, scene: Scene) -> None:
    make_new(scene)
    ModelCall.objects.filter(pk=scene.call.pk).update(outcome="unavailable", started_at=timezone.now())
    Reply.objects.update(created_at=timezone.now())
    job = Job.objects.create(companion=scene.companion, kind=Job.Kind.IMPORT_LOG)
    imported = ask(scene.companion, "Said long ago.", NOON)
    Message.objects.filter(pk=imported.pk).update(job=job)
    asleep = ask(scene.companion, "On another branch.", NOON)
    Message.objects.filter(pk=asleep.pk).update(is_asleep=True)
    context = desk.get(reverse("admin:index")).context
    counts = {
        figure.name: desk.get(figure.link).context["cl"].result_count for figure in context["numbers"][:4]
    }
    assert counts == {figure.name: figure.number for figure in context["numbers"][:4]}
    assert counts["Messages today"] == Message.everywhere.count() - 1
    more = {
        figure.more: desk.get(figure.more_link).context["cl"].result_count
        for figure in context["numbers"]
        if figure.more in {"1 failed", "1 new today", "3 new today"}
    }
    assert more == {"1 failed": 1, "1 new today": 1, "3 new today": 3}
    for state in context["replies"]:
        assert desk.get(state["link"]).context["cl"].result_count == state["number"], state


def test_reasons_stand_in_a_table_with_what_was_used(desk: Client, scene: Scene) -> None:
    reasons = {
        "likeness": 0.5,
        "words": 0.25,
        "matched": [],
        "parts": {"answers": 0.6},
        "factors": {"emotion": 1.05},
    }
    Recalled.objects.filter(recall=scene.recall).update(reasons=reasons, is_used=True)
    for address in (page(scene.reply), page(scene.recall), page(Recalled.objects.get())):
        text = shown(desk, address)
        for expected in ("answers a question like this; felt strongly", "+0.60", "×\u00a01.050", ">used<"):
            assert expected in text, (address, expected)


def test_a_memorys_page_shows_how_it_sits(desk: Client, scene: Scene) -> None:
    sits = {
        "times_recalled": 41,
        "recalled_at": NOON,
        "joy": 0.35,
        "aversion": 0.1,
        "importance": 8,
        "evidence": 3,
    }
    Memory.objects.filter(pk=scene.fact.pk).update(**sits)
    text = shown(desk, page(scene.fact))
    for expected in ("muscle", "<dd>41</dd>", "2026-03-10", "35\u00a0%", "10\u00a0%", "8 / 10", "<dd>3</dd>"):
        assert expected in text, expected
    assert f"<span>{MARKER.lower()}" in text


def test_every_table_stands_in_one_group_by_a_name_of_its_own() -> None:
    tables = [(label, name) for room in list_rooms().values() for label, (name, _) in room.items()]
    labels, names = zip(*tables, strict=True)
    assert sorted(labels) == sorted({name_of(model) for model in ALL} - {"providers.Provider"})
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("model", ["companions_closing", "memory_consolidation", "auth_group"])
def test_a_table_is_called_the_same_in_the_sidebar_and_above_it(desk: Client, model: str) -> None:
    names = {
        label.lower().replace(".", "_"): name
        for room in list_rooms().values()
        for label, (name, _) in room.items()
    }
    text = shown(desk, reverse(f"admin:{model}_changelist"))
    path = reverse(f"admin:{model}_changelist")
    above = re.search(rf'<a href="{path}" class="align-middle[^>]*>(.*?)</a>', text, re.DOTALL)
    assert above
    assert above[1].strip() == names[model]
