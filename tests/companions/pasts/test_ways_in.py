"""Pasts through the API, the pages and the command: told before anything is made, begun once, and the owner's alone."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from accounts.models import User
from bench.common.past_files import chatgpt, sillytavern
from companions.models import Companion, Job, Message, PastImport, PastUpload
from companions.pasts import imports, undo, uploads
from companions.pasts.job_progress import measure_progress
from files.models import StoredFile
from memory.embedding import embed_waiting
from tests.companions.pasts.files import begin
from tests.companions.talking import say
from tests.fixtures.rest import Api, problem
from tests.pasts.corpus import TALK, claude, deepseek, dumped

pytestmark = pytest.mark.django_db
THEN = datetime(2023, 5, 2, 9, tzinfo=UTC)
LINES = [
    (True, "My cat Plum hides under the stove.", THEN),
    (False, "Then the stove must be off.", THEN + timedelta(minutes=1)),
    (True, "I start at the harbour office on Monday.", THEN + timedelta(days=1)),
    (False, "Wear the blue coat.", THEN + timedelta(days=1, minutes=1)),
]
SILLY = sillytavern(LINES, {1: ["Plum is wise."]})


def given(content: bytes = SILLY, **more: Any) -> dict[str, Any]:
    return {"file": SimpleUploadedFile("chat.jsonl", content), **more}


@pytest.fixture
def at_home(alice: User, client: Client) -> Client:
    client.force_login(alice)
    return client


def test_the_api_tells_of_a_past_before_anything_is_made(as_alice: Api, mira: Companion) -> None:
    told = as_alice.form("/pasts/preview", given(companion=str(mira.pk))).json()
    assert (told["form"], told["name"]) == ("a chat from SillyTavern", "Odo")
    assert (told["conversations"], told["messages"], told["alternatives"], told["duplicates"]) == (1, 5, 1, 0)
    assert [(one["name"], one["is_person"]) for one in told["speakers"]] == [("Odo", False), ("Alice", True)]
    assert (told["cost"]["sessions"], told["nights"]) == (2, 1)
    assert not PastUpload.objects.exists()
    assert not StoredFile.objects.exists()
    assert not Message.objects.exists()


def test_what_was_said_here_is_told_to_be_there_already(as_alice: Api, mira: Companion) -> None:
    said = say(mira, LINES[0][1], at=THEN)[0]
    told = as_alice.form("/pasts/preview", given(companion=str(mira.pk))).json()
    assert (told["messages"], told["duplicates"]) == (5, 1)
    begun = as_alice.form(f"/companions/{mira.pk}/import/past", given()).json()
    assert begun["job"]["total"] == 4
    imports.run(PastImport.objects.get().pk, timezone.now)
    assert PastImport.objects.get().skipped_count == 1
    assert list(Message.objects.filter(text=said.text)) == [said]


def test_the_api_imports_lists_pauses_and_undoes(as_alice: Api, mira: Companion) -> None:
    path = f"/companions/{mira.pk}"
    answer = as_alice.form(f"{path}/import/past", given(learn="true", format="sillytavern"))
    assert answer.status_code == 202
    job = answer.json()["job"]
    assert (job["state"], job["done"], job["total"]) == ("waiting", 0, 5)
    past = PastImport.objects.get()
    imports.run(past.pk, timezone.now)
    [listed] = as_alice.get(f"{path}/imports").json()["items"]
    assert (listed["job_id"], listed["messages"], listed["learning"]) == (job["id"], 5, "running")
    assert listed["learnt"] == {"done": 0, "failed": 0, "total": 2}
    patched = as_alice.call(
        "PATCH", f"{path}/imports/{past.pk}", {"learning": "paused", "nightly_tokens": 50_000}
    )
    assert (patched.json()["learning"], patched.json()["nightly_tokens"]) == ("paused", 50_000)
    assert as_alice.call("DELETE", f"{path}/imports/{past.pk}").status_code == 202
    undo.run(past.pk, timezone.now)
    assert as_alice.get(f"{path}/jobs/{job['id']}").json()["job"]["state"] == "done"
    assert not Message.everywhere.exists()


def test_a_past_sent_twice_under_one_key_comes_once(as_alice: Api, mira: Companion) -> None:
    as_alice.headers |= {"Idempotency-Key": "once"}
    jobs = [
        as_alice.form(f"/companions/{mira.pk}/import/past", given()).json()["job"]["id"] for _ in range(2)
    ]
    assert jobs[0] == jobs[1]
    assert PastImport.objects.count() == StoredFile.objects.count() == 1


@pytest.mark.parametrize(
    ("content", "more", "code"),
    [
        (b"\x00\x01\x02", {}, "no_past"),
        (SILLY, {"format": "chatgpt"}, "other_form"),
        (SILLY, {"pattern": "no names"}, "pattern_without_name"),
        (SILLY, {"person": "Mallory"}, "no_such_speaker"),
    ],
)
def test_what_is_no_past_is_refused_and_leaves_nothing(
    as_alice: Api, mira: Companion, content: bytes, more: dict[str, str], code: str
) -> None:
    problem(as_alice.form(f"/companions/{mira.pk}/import/past", given(content, **more)), 422, code)
    assert not PastImport.objects.exists()
    assert not StoredFile.objects.exists()


def test_a_dropped_past_is_looked_at_and_becomes_a_new_companion(at_home: Client) -> None:
    looked_at = at_home.post("/companions/new/card/", given(chatgpt(LINES)))
    page = at_home.get(looked_at["Location"]).content.decode()
    assert "conversations from ChatGPT" in page
    assert "4 messages" in page
    assert not Companion.objects.exists()
    made = at_home.post(
        looked_at["Location"], {"remember": "yes", "companion": "", "name": "Odo", "talk": "0"}
    )
    companion = Companion.objects.get()
    assert made["Location"] == f"/companions/{companion.pk}/settings/pasts/"
    assert (companion.name, Message.objects.count()) == ("Odo", 0)
    imports.run(PastImport.objects.get().pk, timezone.now)
    assert Message.objects.filter(companion=companion).count() == 4
    assert "0 of 4 messages can be recalled" in at_home.get(made["Location"]).content.decode()
    embed_waiting(companion.pk)
    assert "All of it can be recalled" in at_home.get(made["Location"]).content.decode()


def test_the_figures_follow_what_is_chosen(at_home: Client, mira: Companion) -> None:
    looked_at = at_home.post("/companions/new/card/", given(companion=str(mira.pk)))["Location"]
    at_home.post(looked_at, {"remember": "yes", "companion": str(mira.pk)})
    imports.run(PastImport.objects.get().pk, timezone.now)
    again = at_home.post("/companions/new/card/", given(companion=str(mira.pk)))["Location"]
    part = {"HTTP_HX_REQUEST": "true", "HTTP_HX_TARGET": "past-figures"}
    asked = again.split("?")[0]
    told = at_home.post(asked, {"companion": str(mira.pk)}, **part).content.decode()
    assert "5 messages are already here" in told
    assert "already here" not in at_home.post(asked, {"companion": ""}, **part).content.decode()


def test_what_is_refused_is_told_on_the_page_that_it_was_brought_on(at_home: Client, mira: Companion) -> None:
    for companion, page in (
        (str(mira.pk), f"/companions/{mira.pk}/settings/pasts/"),
        ("", "/companions/new/"),
    ):
        refused = at_home.post("/companions/new/card/", given(b"no talk", companion=companion), follow=True)
        assert refused.redirect_chain[-1][0] == page
        assert "Kith does not recognise this file." in refused.content.decode()


ARROWS = b"Anna >> Good morning: tea?\nBo >> Yes.\nAnna >> Come in.\n"


def test_text_that_is_not_understood_is_read_by_a_pattern_that_its_person_writes(at_home: Client) -> None:
    looked_at = at_home.post("/companions/new/card/", given(ARROWS))["Location"]
    asked = at_home.get(looked_at)
    assert asked.status_code == 200
    assert "Kith cannot tell who is speaking in it." in asked.content.decode()
    assert "Anna &gt;&gt; Good morning: tea?" in asked.content.decode()
    for wrong, told in (
        ("{name} >>", "{text} is missing from the pattern."),
        ("{who} >> {text}", "Write everything else as it is"),
        ("{name} -> {text}", "No line in this file begins as the pattern says."),
    ):
        refused = at_home.get(looked_at, {"pattern": wrong})
        assert refused.status_code == 422
        assert told in refused.content.decode()
        assert refused.context["pattern"] == wrong
    read = at_home.get(looked_at, {"pattern": "{name} >> {text}"})
    assert [line.text for line in read.context["shown"].lines] == ["Good morning: tea?", "Yes.", "Come in."]
    at_home.post(looked_at, {"remember": "yes", "companion": "", "name": "Bo", "pattern": "{name} >> {text}"})
    imports.run(PastImport.objects.get().pk, timezone.now)
    assert Message.objects.filter(text="Good morning: tea?", role="user").exists()


def test_text_that_is_understood_wrongly_can_be_read_by_another_pattern(at_home: Client) -> None:
    lines = b"Anna: (to Bo): Good morning.\nBo: (to Anna): Good morning.\n" * 2
    looked_at = at_home.post("/companions/new/card/", given(lines))["Location"]
    page = at_home.get(looked_at)
    assert (page.context["written"], page.context["shown"].lines[0].text) == (
        "{name}: {text}",
        "(to Bo): Good morning.",
    )
    again = at_home.get(looked_at, {"pattern": "{name}: (to Bo): {text}"}).context["shown"]
    assert again.lines[0].text.startswith("Good morning.")


def test_a_file_without_dates_says_that_its_dates_are_made_up(at_home: Client, as_alice: Api) -> None:
    undated = sillytavern([(is_person, text, None) for is_person, text, _at in LINES])
    told = as_alice.form("/pasts/preview", given(undated)).json()
    assert (told["first_at"], told["last_at"]) == (None, None)
    looked_at = at_home.post("/companions/new/card/", given(undated))["Location"]
    page = at_home.get(looked_at).content.decode()
    assert "The file has no dates, so its messages get made-up ones" in page
    made = at_home.post(looked_at, {"remember": "yes", "companion": "", "name": "Odo"})["Location"]
    listed = at_home.get(made).content.decode()
    assert "The file had no dates, so its messages have made-up ones" in listed
    assert "2023" not in listed


def test_only_plain_text_has_a_pattern(at_home: Client) -> None:
    looked_at = at_home.post("/companions/new/card/", given())["Location"]
    page = at_home.get(looked_at, {"pattern": "{name} >> {text}"})
    assert page.status_code == 200
    assert 'id="pattern"' not in page.content.decode()


def test_roles_of_chatgpt_are_told_as_names(at_home: Client) -> None:
    looked_at = at_home.post("/companions/new/card/", given(chatgpt(LINES)))["Location"]
    shown = at_home.get(looked_at).context["shown"]
    assert (shown.name, {speaker.label for speaker in shown.speakers}) == (
        "ChatGPT",
        {"ChatGPT", "whoever asked"},
    )


@pytest.mark.parametrize(("make", "name"), [(claude, "Claude"), (deepseek, "DeepSeek")])
def test_an_export_of_another_assistant_is_looked_at_and_remembered(
    at_home: Client, make: Callable[[], object], name: str
) -> None:
    looked_at = at_home.post("/companions/new/card/", given(dumped([make()])))["Location"]
    page = at_home.get(looked_at)
    assert f"conversations from {name}" in page.content.decode()
    assert {speaker.label for speaker in page.context["shown"].speakers} == {name, "whoever asked"}
    at_home.post(looked_at, {"remember": "yes", "companion": "", "name": "Odo", "talk": "0"})
    imports.run(PastImport.objects.get().pk, timezone.now)
    assert list(Message.objects.order_by("said_at").values_list("text", flat=True)) == [
        line.text for line in TALK
    ]


def test_a_new_companion_needs_a_name_and_nothing_is_made_without(at_home: Client) -> None:
    looked_at = at_home.post("/companions/new/card/", given())["Location"]
    refused = at_home.post(looked_at, {"remember": "yes", "companion": "", "name": " "})
    assert refused.status_code == 422
    assert "Give the new companion a name." in refused.content.decode()
    assert not Companion.objects.exists()
    assert PastUpload.objects.count() == 1


def test_another_persons_file_companion_or_import_does_not_exist(
    at_home: Client, mallory: User, mira: Companion
) -> None:
    looked_at = at_home.post("/companions/new/card/", given())["Location"]
    theirs = Client()
    theirs.force_login(mallory)
    assert theirs.get(looked_at).status_code == 404
    own = theirs.post("/companions/new/card/", given())["Location"]
    assert theirs.post(own, {"remember": "yes", "companion": str(mira.pk)}).status_code == 404
    assert not PastImport.objects.exists()


def test_what_is_looked_at_goes_after_a_day_or_for_the_sixth(at_home: Client, alice: User) -> None:
    for _ in range(uploads.UPLOADS_EACH + 1):
        at_home.post("/companions/new/card/", given())
    assert PastUpload.objects.count() == StoredFile.objects.count() == uploads.UPLOADS_EACH
    uploads.delete_unused_uploads(timezone.now() + timedelta(days=2))
    assert not PastUpload.objects.exists()
    assert not StoredFile.objects.exists()


def test_the_command_brings_a_past(
    mira: Companion, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_bytes(SILLY)
    call_command("import_past", str(file), companion=str(mira.pk))
    assert "5 messages imported" in capsys.readouterr().out
    assert Message.everywhere.count() == 5
    with pytest.raises(CommandError, match="Nothing was imported"):
        call_command("import_past", str(tmp_path / "none"), companion=str(mira.pk))
    with pytest.raises(CommandError, match=r"^Nothing was imported: there is no such companion\.$"):
        call_command("import_past", str(file), companion="mira")


def test_the_page_asks_again_if_an_undoing_ends_while_it_looks(
    at_home: Client, mira: Companion, monkeypatch: pytest.MonkeyPatch
) -> None:
    past = begin(mira, SILLY, timezone.now())
    undo.begin_undo(past, timezone.now())

    def measure_after_the_end(job: Job) -> tuple[str, int]:
        undo.run(past.pk, timezone.now)
        return measure_progress(job)

    monkeypatch.setattr("companions.pages.pasts.measure_progress", measure_after_the_end)
    path = f"/companions/{mira.pk}/settings/pasts/"
    shown = at_home.get(path).content.decode()
    assert "It is being undone." in shown
    assert 'hx-trigger="every 3s"' in shown
    shown = at_home.get(path).content.decode()
    assert "Nothing yet." in shown
    assert 'hx-trigger="every 3s"' not in shown


def test_who_looks_at_a_past_again_and_again_waits(at_home: Client, settings: Any) -> None:
    looked_at = at_home.post("/companions/new/card/", given())["Location"]
    settings.LIMITS, settings.RATES = True, {**settings.RATES, "pasts": [(1, 3600)]}
    assert [at_home.get(looked_at).status_code for _ in range(2)] == [200, 429]


def test_the_command_brings_a_log_for_companions_that_there_are(mira: Companion, tmp_path: Path) -> None:
    file = tmp_path / "log.json"
    file.write_text('{"messages": [{"role": "user", "text": "Hello", "at": "2024-05-01T10:00:00Z"}]}')
    for companion in ("mira", "00000000-0000-4000-8000-000000000000"):
        with pytest.raises(CommandError, match="Nothing was imported: there is no such companion"):
            call_command("import_log", companion, str(file))
    call_command("import_log", str(mira.pk), str(file))
    assert Message.everywhere.get().text == "Hello"


def test_the_command_names_the_first_place_of_a_log_that_is_wrong(mira: Companion, tmp_path: Path) -> None:
    file = tmp_path / "log.json"
    file.write_text('{"messages": [{"role": "nobody", "text": "Hello"}]}')
    with pytest.raises(CommandError) as told:
        call_command("import_log", str(mira.pk), str(file))
    assert str(told.value).startswith("Nothing was imported: messages.0.role: ")
    assert "\n" not in str(told.value)
