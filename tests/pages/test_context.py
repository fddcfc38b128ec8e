"""The page that shows how the context is filled, and the warning of a persona that leaves no room."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from companions.life.timers import timers
from companions.models import Companion, Mind, Timer
from companions.prompting.usage import Part, measure_parts
from companions.replies.preview import preview_usage
from providers.tokens import estimate_messages
from tests.companions.talking import say
from tests.companions.tools.conftest import NOW, log, turn_of

pytestmark = pytest.mark.django_db
HUGE = "Mira likes the sea, and long walks along it in the rain. " * 260
WARNING = "fill most of what the model can read at once"


def test_every_token_of_a_prompt_belongs_to_a_part(mira: Companion) -> None:
    mira.example_dialogue = "{{char}}: Oh."
    mira.save()
    say(mira, "I am Alice.", "Hello, Alice.", at=timezone.now())
    turn = turn_of(mira, "Do you remember me?")
    parts = measure_parts(turn.prompt, turn.offers)
    assert abs(sum(parts.values()) - estimate_messages(turn.prompt, turn.offers)) < 20
    assert {Part.RULES, Part.PERSONA, Part.EXAMPLES, Part.PERSON, Part.HISTORY, Part.TOOLS} <= parts.keys()
    assert parts[Part.RULES] + parts[Part.MOMENT] <= 700
    assert parts[Part.RULES] + parts[Part.MOMENT] + parts[Part.TOOLS] <= 1200


def test_what_is_shown_is_what_a_short_message_would_send(mira: Companion) -> None:
    log(mira, "I am Alice, and I sail.", "Hello, Alice.", days_ago=3)
    say(mira, "Remind me of the tea.", "I will.", at=NOW)
    timers.set_timer(mira, "2h", "The tea", now=NOW, by=Timer.By.USER, is_asked_for=True)
    shown = preview_usage(Companion.objects.get(), NOW).parts
    turn = turn_of(mira, "…", NOW)
    sent = measure_parts(turn.prompt, turn.offers)
    apart = {part: (shown[part], sent[part]) for part in sent if abs(shown[part] - sent[part]) > 2}
    assert set(apart) <= {Part.MEMORIES}, apart
    assert "The tea" in str(turn.prompt)
    assert "sail" in str(turn.prompt)


def test_the_page_shows_the_parts_and_what_is_left(at_home: Client, mira: Companion) -> None:
    say(mira, "I am Alice.", "Hello, Alice.", at=timezone.now())
    usage = preview_usage(mira, timezone.now())
    assert 0 < usage.left < usage.size == sum(usage.parts.values()) + usage.left
    page = at_home.get(f"/companions/{mira.pk}/settings/context/").content.decode()
    for words in ("Persona", "The talk so far", "Room for the answer", "Room left for the talk"):
        assert words in page
    assert WARNING not in page


def test_the_advanced_settings_lead_to_it_and_to_forgetting(at_home: Client, mira: Companion) -> None:
    advanced = at_home.get(f"/companions/{mira.pk}/settings/advanced/").content.decode()
    for page in ("settings/context/", "forgetting/"):
        assert f'href="/companions/{mira.pk}/{page}"' in advanced


def test_a_companion_that_reads_less_has_less_to_fill(at_home: Client, mira: Companion) -> None:
    mira.mind = Mind.objects.create(companion=mira, context_tokens=4096)
    assert preview_usage(mira, timezone.now()).size == 4096
    mira.persona = HUGE[: len(HUGE) // 2]
    mira.save()
    assert WARNING in at_home.get(f"/companions/{mira.pk}/settings/context/").content.decode()
    Mind.objects.all().delete()
    assert WARNING not in at_home.get(f"/companions/{mira.pk}/settings/context/").content.decode()


def test_a_persona_that_leaves_no_room_is_kept_with_a_warning(at_home: Client, mira: Companion) -> None:
    fields: dict[str, Any] = {"name": "Mira", "persona": HUGE, "greeting": "", "tint": "40"}
    saved = at_home.post(f"/companions/{mira.pk}/about/", fields, follow=True)
    mira.refresh_from_db()
    assert mira.persona == HUGE.strip()
    assert WARNING in saved.content.decode()
    assert WARNING in at_home.get(f"/companions/{mira.pk}/settings/context/").content.decode()
    fields["persona"] = "Calm."
    assert WARNING not in at_home.post(f"/companions/{mira.pk}/about/", fields, follow=True).content.decode()
