"""Answers in a given form: whatever a model answers instead, what comes is in form or an error of the provider's."""

import json
from typing import Annotated, Any

import pytest
from django.utils import timezone
from pydantic import BaseModel, Field

from accounts.limits.usage import Payer, charged
from accounts.models import ModelCall, User
from companions.deletion import delete_companion, delete_message
from companions.models import Companion, Message
from companions.replies.lifecycle import start
from memory.documents.gists import Gists
from memory.learning.answers import Diary, Digest, Facts, Reflection, Understanding
from providers.chat.completion import MAX_CHARACTERS
from providers.chat.structured import ask, find_objects, parse_answer
from providers.chat_provider import OWN
from providers.errors import MalformedError, ProviderError, ProviderRefused, ProviderUnavailable
from providers.tokens import Metered, metered, note
from tests.companions.talking import say
from tests.fixtures.malformed import (
    GOOD,
    HOPELESS,
    LEARNT,
    MALFORMED,
    PARTLY,
    READABLE,
    REPAIRED,
    WHOLE,
    Step,
)
from tests.fixtures.rehearsal import RehearsalServer

MESSAGES = [
    {"role": "system", "content": "Task: digest\nSay what is to be kept."},
    {
        "role": "user",
        "content": '<kith-said>\n[1] 2023-05-02 09:05 Alice (user): "I like rain."\n</kith-said>',
    },
]


class Merge(BaseModel):
    keep: int
    others: list[int] = Field(min_length=1, max_length=20)


class Pair(BaseModel):
    a: int
    b: int


class Insight(BaseModel):
    text: Annotated[str, Field(min_length=1, max_length=500)]
    drawn_from: list[int] = Field(alias="from", min_length=2)


class Review(BaseModel):
    of: int
    status: str
    progress: int = Field(ge=0, le=100)


class Night(BaseModel):
    merges: list[Merge]
    contradictions: list[Pair]
    insights: list[Insight]
    reviews: list[Review]


FORMS: dict[str, type[BaseModel]] = {
    "digest": Digest,
    "diary": Diary,
    "facts": Facts,
    "understanding": Understanding,
    "gists": Gists,
    "night": Night,
    "reflection": Reflection,
}


@pytest.fixture
def rehearsal(server: RehearsalServer, settings: Any) -> RehearsalServer:
    """The chat model of the settings, asked once."""
    server.reset()
    settings.CHAT = {"base_url": server.url, "api_key": "", "model": "rehearsal", "is_rehearsal": True}
    settings.CHAT_TIMEOUTS = {"connect_seconds": 1.0, "first_piece_seconds": 5.0, "silence_seconds": 5.0}
    settings.CHAT_RETRIES = 0
    return server


def came(task: str, messages: list[dict[str, str]] = MESSAGES) -> BaseModel | ProviderError:
    """What was answered, or the error that came instead."""
    try:
        return ask(task, messages, FORMS[task])
    except ProviderError as error:
        return error


def text_of(step: Step) -> str | None:
    """The text that comes over the wire; None where it fails on its way, is reasoning, or more than is read."""
    if {"cut_after", "end_after", "thought", "tool_calls"} & step.keys():
        return None
    text: str | None = "".join(step["pieces"]) if "pieces" in step else step.get("answer")
    return None if text is None or len(text) > MAX_CHARACTERS or "<think>" in text else text


# -- answers in another form: what comes over the wire is asked for with one task, and what is in it read for all


@pytest.mark.parametrize("name", HOPELESS)
def test_what_is_no_answer_is_an_error_of_the_providers(rehearsal: RehearsalServer, name: str) -> None:
    rehearsal.script(HOPELESS[name] | {"task": "digest"})
    error = came("digest")
    assert isinstance(error, MalformedError | ProviderUnavailable | ProviderRefused)
    assert len(rehearsal.ledger()) == 1


@pytest.mark.parametrize("name", [name for name, step in HOPELESS.items() if text_of(step) is not None])
def test_what_is_no_answer_is_none_to_any_task(name: str) -> None:
    for form in FORMS.values():
        with pytest.raises(MalformedError):
            parse_answer(str(text_of(HOPELESS[name])), form)


@pytest.mark.parametrize("name", READABLE)
def test_an_answer_is_found_in_what_stands_around_it(rehearsal: RehearsalServer, name: str) -> None:
    rehearsal.script(READABLE[name] | {"task": "digest"})
    assert came("digest") == Digest.model_validate(GOOD)


@pytest.mark.parametrize("task", FORMS)
def test_each_task_is_given_an_answer_in_its_own_form(rehearsal: RehearsalServer, task: str) -> None:
    rehearsal.script(READABLE["in a fence"] | {"task": task}, HOPELESS["English prose"] | {"task": task})
    assert came(task) == FORMS[task].model_validate(GOOD)
    assert isinstance(came(task), MalformedError)


def test_an_example_that_is_given_back_is_no_answer(rehearsal: RehearsalServer) -> None:
    """Its numbers would be those of memories and goals that nobody meant."""
    form = json.dumps(json.loads(WHOLE) | {"insights": [{"text": "…", "from": [1, 4]}]}, ensure_ascii=False)
    asked = [{"role": "system", "content": f'Task: night\nAnswer {{"merges": []}} or in this form:\n{form}'}]
    given_back = (f"```json\n{form}\n```", f'{{"properties": {form}}}', form.replace(",", ",,", 1))
    for answer in (*given_back, WHOLE):
        rehearsal.script({"task": "night", "answer": answer})
        if answer != WHOLE:
            assert isinstance(came("night", asked), MalformedError), answer
    assert came("night", asked) == Night.model_validate(GOOD)


@pytest.mark.parametrize("task", FORMS)
@pytest.mark.parametrize("name", PARTLY)
def test_what_is_partly_in_form_stays_within_bounds(task: str, name: str) -> None:
    text = text_of(PARTLY[name])
    assert text
    try:
        answer = parse_answer(text, FORMS[task])
    except MalformedError:
        return
    if isinstance(answer, Digest):
        assert len(answer.summary) <= 6000
        assert len(answer.memories) <= 30
        assert all(1 <= one.importance <= 10 and len(one.text) <= 500 for one in answer.memories)
    if isinstance(answer, Reflection):
        assert 1 <= len(answer.text) <= 4000
        assert -1 <= answer.valence <= 1
        assert 0 <= min(answer.arousal, answer.intensity) <= max(answer.arousal, answer.intensity) <= 1
    if isinstance(answer, Diary):
        assert len(answer.diary) <= 20


def test_the_corpus_has_more_than_forty_kinds() -> None:
    assert len(HOPELESS) >= 40
    assert len(MALFORMED) == len(HOPELESS) + len(READABLE) + len(PARTLY) + len(REPAIRED)


@pytest.mark.parametrize("at", range(0, len(WHOLE), 7))
def test_of_an_answer_cut_anywhere_only_what_is_whole_is_kept(at: int) -> None:
    for form in FORMS.values():
        try:
            found = parse_answer(WHOLE[:at], form).model_dump(exclude={"inner_state"})
        except MalformedError:
            continue
        whole = form.model_validate(GOOD).model_dump()
        defaults = {
            name: field.get_default(call_default_factory=True) for name, field in form.model_fields.items()
        }
        assert all(value in (whole[name], defaults[name], []) for name, value in found.items())


@pytest.mark.parametrize("name", REPAIRED)
def test_what_is_nearly_right_is_repaired(rehearsal: RehearsalServer, name: str) -> None:
    rehearsal.script(REPAIRED[name] | {"task": "facts"})
    assert came("facts") == Facts.model_validate(GOOD)


def test_a_text_keeps_its_full_width_marks_where_its_form_is_repaired() -> None:
    gist = r"他考了第3，2人同分；\"比分1：0\"。"
    found = parse_answer(f'{{"gists"：[{{"number"：1，"gist": "{gist}"}}],}}', Gists)
    assert isinstance(found, Gists)
    assert found.gists[0].gist == gist.replace("\\", "")


@pytest.mark.parametrize(
    ("field", "value", "read"),
    [
        ("kind", "pet", "fact"),
        ("verdict", "destroy", "add"),
        ("happened_on", "", None),
        ("happened_on", "yesterday", None),
        ("importance", 12, 10),
        ("importance", "8/10", 8),
        ("importance", "high", 5),
        ("confidence", "90%", 0.9),
        ("joy", -3, 0.0),
        ("sources", "1", [1]),
        ("sources", ["[1]", 2, None], [1, 2]),
        ("of", "M3", 3),
        ("of", "none", None),
        ("quotes", "I like rain.", ["I like rain."]),
        ("meant", "Sarcastic", "irony"),
        ("meant", "hypothetical", "if"),
        ("meant", "roleplay", "role_play"),
        ("meant", 7, ""),
    ],
)
def test_a_field_out_of_form_falls_back_to_its_default(field: str, value: object, read: object) -> None:
    [memory] = Facts.model_validate({"memories": [LEARNT | {field: value}]}).memories
    assert getattr(memory, field) == read


def test_an_entry_that_cannot_be_read_is_dropped_alone_and_counted() -> None:
    facts = Facts.model_validate({"memories": [LEARNT, {"text": "No line."}, "words", None, LEARNT]})
    assert (len(facts.memories), facts.unreadable) == (2, 3)


@pytest.mark.parametrize(
    "bad", ['{"a": 1, "a": 2}', '{"a": NaN}', '{"a": [{"b": 1e999}]}', '{"a": %s}' % ("9" * 5_000)]
)
def test_an_object_out_of_bounds_does_not_hide_the_ones_after_it(bad: str) -> None:
    assert find_objects(f'At first {bad}, then {{"b": 1}} and {bad} and {{"c": 2}}.') == [{"b": 1}, {"c": 2}]
    assert find_objects(f'{bad[:-1]}, "x": ! {{"b": 1}}') == find_objects('{"a": 1, "x": ! {"b": 1}')


@pytest.mark.parametrize("text", ['{"' * 100_000, '{"a": ' * 100_000, "{" * 200_000, '{"a": 1} ' * 20_000])
def test_looking_for_an_object_ends(text: str) -> None:
    with pytest.raises(MalformedError):
        parse_answer(text, Night)


def test_a_malformed_answers_error_holds_no_word_of_it() -> None:
    for text in ('{"rosebud": "rosebud"}', "rosebud", '{"summary": "rosebud", "memories": "rosebud"}'):
        with pytest.raises(MalformedError) as raised:
            parse_answer(text, Digest)
        assert (raised.value.code, "rosebud" in str(raised.value)) == ("malformed_answer", False)
        assert raised.value.__context__ is None


def test_what_never_ends_is_left(rehearsal: RehearsalServer) -> None:
    rehearsal.script({"pieces": ["rain " * 200] * 2000, "delay_between": 0.001, "task": "digest"})
    with metered() as calls:
        assert isinstance(came("digest"), MalformedError)
    assert calls[0].is_estimated
    assert calls[0].completion_tokens >= MAX_CHARACTERS / 5


# -- how it is asked


def test_the_form_is_sent_beside_the_messages(rehearsal: RehearsalServer) -> None:
    came("digest")
    form = rehearsal.requests()[-1]["response_format"]
    assert form["type"] == "json_schema"
    assert (form["json_schema"]["name"], form["json_schema"]["strict"]) == ("digest", False)
    assert set(form["json_schema"]["schema"]["required"]) == {"summary", "memories"}
    assert "description" not in json.dumps(form)


def test_a_server_that_refuses_the_form_is_asked_without(rehearsal: RehearsalServer) -> None:
    rehearsal.script({"refuses": ["response_format"], "task": "digest"})
    assert isinstance(came("digest"), Digest)
    assert ["response_format" in request for request in rehearsal.requests()] == [True, False]


@pytest.mark.parametrize(
    "words",
    [
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        "This response_format type is unavailable now",
        "Failed to parse grammar",
        "guided_json is not enabled",
        "extra_forbidden: body.response_format: Extra inputs are not permitted",
    ],
)
def test_servers_refuse_the_form_in_many_words(rehearsal: RehearsalServer, words: str) -> None:
    rehearsal.script({"error": {"status": 400, "body": {"error": {"message": words}}}, "task": "digest"})
    assert isinstance(came("digest"), Digest)


def test_a_talks_step_is_not_used_up_by_a_task(rehearsal: RehearsalServer) -> None:
    rehearsal.script({"answer": "For the talk."}, {"answer": "For the talk too.", "when": "I like rain"})
    assert isinstance(came("digest"), Digest)
    rehearsal.script({"answer": WHOLE, "task": "any", "when": "2023-05-02 09:05"})
    assert came("diary") == Diary.model_validate(GOOD)


# -- what it costs


@pytest.mark.django_db
def test_each_call_is_charged_as_the_server_counted_it(
    rehearsal: RehearsalServer, alice: User, mira: Companion
) -> None:
    names = [
        "the object alone",
        "English prose",
        "reasoning only",
        "a tool call",
        "a cut stream",
        "a wrong key",
    ]
    rehearsal.script(*(MALFORMED[name] | {"task": "digest"} for name in names))
    rows: list[ModelCall] = []
    for _ in names:
        with charged(Payer(alice.pk, mira.pk), ModelCall.Purpose.LEARNING, timezone.now) as calls:
            came("digest")
        rows += calls
    ledger = rehearsal.ledger()
    assert [row.outcome for row in rows] == ["done"] * 4 + ["unavailable", "refused"]
    assert [(row.prompt_tokens, row.completion_tokens, row.is_estimated) for row in rows[:4]] == [
        (call["prompt_tokens"], call["completion_tokens"], False) for call in ledger[:4]
    ]
    cut, refused = rows[4:]
    assert (cut.prompt_tokens, cut.is_estimated) == (ledger[4]["prompt_tokens"], True)
    assert 0 < cut.completion_tokens <= ledger[4]["completion_tokens"]
    assert (refused.prompt_tokens, refused.completion_tokens) == (0, 0)
    assert list(ModelCall.objects.owned_by(alice).order_by("pk")) == rows
    assert {(row.purpose, row.companion_id, row.model) for row in rows} == {
        ("learning", mira.pk, "rehearsal")
    }


@pytest.mark.django_db
def test_what_came_from_the_cache_is_charged_as_such(
    rehearsal: RehearsalServer, alice: User, mira: Companion
) -> None:
    usage = {"prompt_tokens": 70, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 64}}
    rehearsal.script({"answer": WHOLE, "usage": usage, "task": "digest"})
    with charged(Payer(alice.pk, mira.pk), ModelCall.Purpose.LEARNING) as calls:
        came("digest")
    row = ModelCall.objects.get(pk=calls[0].pk)
    assert (row.prompt_tokens, row.completion_tokens, row.cached_tokens) == (70, 7, 64)
    assert (row.outcome, row.is_estimated) == ("done", False)


@pytest.mark.django_db(transaction=True)  # the database checks at the end whether the companion is there
def test_a_call_is_charged_even_if_its_companion_is_deleted_meanwhile(
    rehearsal: RehearsalServer, alice: User, mira: Companion
) -> None:
    rehearsal.script({"answer": WHOLE, "task": "digest"})
    reply = start(mira, "Hello", None, timezone.now(), at_once=False).reply
    with charged(Payer(alice.pk, mira.pk, reply.pk), ModelCall.Purpose.LEARNING) as calls:
        came("digest")
        delete_companion(mira)
    [call] = ModelCall.objects.owned_by(alice)
    assert (calls, call.companion_id, call.reply_id) == ([call], None, None)
    assert call.prompt_tokens > 0


@pytest.mark.django_db(transaction=True)
def test_what_background_work_sent_and_got_is_kept_until_something_is_deleted(
    rehearsal: RehearsalServer, alice: User, mira: Companion
) -> None:
    def call() -> ModelCall:
        with charged(Payer(alice.pk, mira.pk), ModelCall.Purpose.LEARNING) as calls:
            came("digest")
            if deleted:
                delete_message(deleted.pop(), timezone.now())
        return ModelCall.objects.get(pk=calls[0].pk)

    first, second = say(mira, "I have a cat.", "And a dog.", at=timezone.now())
    deleted: list[Message] = []
    rehearsal.script({"answer": WHOLE, "task": "digest"}, MALFORMED["a wrong key"] | {"task": "digest"})
    answered, refused = call(), call()
    assert (answered.sent, answered.received) == (MESSAGES, {"text": WHOLE})
    assert (refused.sent, refused.received) == (MESSAGES, {})
    assert refused.said
    delete_message(first, timezone.now())
    assert set(ModelCall.objects.values_list("sent", "received", "said")) == {(None, None, "")}
    rehearsal.script(*[{"answer": WHOLE, "task": "digest"}] * 3)
    assert call().sent is None  # what it sent may have been loaded before
    Companion.objects.update(scrubbed_at=None)
    deleted.append(second)
    assert call().sent is None
    Companion.objects.update(scrubbed_at=None)
    assert call().sent
    delete_companion(mira)
    assert not ModelCall.objects.exclude(sent=None).exists()


@pytest.mark.django_db
def test_what_a_persons_own_provider_said_of_its_failure_is_not_kept(alice: User, mira: Companion) -> None:
    """It may name the address, which is the person's."""
    for place, said in ((OWN, ""), ("http://kith.example", "no model at http://10.0.0.7")):
        error = ProviderRefused("no model at http://10.0.0.7", status=404)
        with charged(Payer(alice.pk, mira.pk), ModelCall.Purpose.LEARNING) as calls:
            note(Metered(place, "m", 1, False, 3, error, sent=MESSAGES))
        assert ModelCall.objects.get(pk=calls[0].pk).said == said


@pytest.mark.django_db
def test_what_was_embedded_does_not_wait_for_the_companion(
    alice: User, mira: Companion, django_assert_num_queries: Any
) -> None:
    """A deletion may hold it for long, and the call of an embedder has no words to keep."""
    call = Metered("built in", "minilm", 12, False, 3)
    with django_assert_num_queries(1), charged(Payer(alice.pk, mira.pk), ModelCall.Purpose.EMBEDDING):
        note(call)


@pytest.mark.usefixtures("rehearsal")
def test_a_call_that_breaks_off_is_not_counted_as_answered() -> None:
    with metered() as calls, pytest.raises(TypeError):
        ask("digest", [{"role": "user", "content": {"no JSON"}}], Digest)
    assert isinstance(calls[0].error, ProviderUnavailable)


@pytest.mark.usefixtures("rehearsal")
def test_without_a_payer_nothing_is_charged() -> None:
    with charged(None, ModelCall.Purpose.LEARNING) as calls:
        came("digest")
    assert calls == []
