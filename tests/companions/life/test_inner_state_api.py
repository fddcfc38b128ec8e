from datetime import timedelta

import pytest
from django.utils import timezone

from companions.life import inner_state
from companions.life.inner_state import Feeling
from companions.models import Companion, InnerState
from memory.emotion import Emotion
from tests.companions.talking import say
from tests.fixtures.rest import Api

pytestmark = pytest.mark.django_db
NOW = timezone.now()
SAD = Feeling(-0.8, 0.4, Emotion.SAD, 0.6)


def test_the_inner_state_is_told_as_it_was_written_and_as_it_is_felt_by_now(
    as_alice: Api, mira: Companion
) -> None:
    now = timezone.now()  # what is told is as of the request's moment
    heard, *_ = say(mira, "My dog died.", "I am sorry.", at=now)
    inner_state.revise(
        mira.pk,
        "I grieve with Alice.",
        SAD,
        by=InnerState.By.REFLECTION,
        now=now - timedelta(hours=12),
        seen=[heard.pk],
        until_at=now,
    )
    told = as_alice.get(f"/companions/{mira.pk}/inner-state").json()
    assert (told["number"], told["text"], told["by"]) == (2, "I grieve with Alice.", "reflection")
    assert (told["valence"], told["arousal"], told["emotion"], told["intensity"]) == (-0.8, 0.4, "sad", 0.6)
    assert (told["source_ids"], told["waking_id"]) == ([str(heard.pk)], None)
    assert told["now"]["emotion"] == "sad"
    assert told["now"]["valence"] == pytest.approx(-0.4, abs=0.01)
    assert told["now"]["intensity"] == pytest.approx(0.3, abs=0.01)


def test_its_revisions_are_told_newest_first_page_by_page(as_alice: Api, mira: Companion) -> None:
    for number in range(2, 5):
        at = NOW + timedelta(hours=number)
        inner_state.revise(mira.pk, f"State {number}", SAD, by=InnerState.By.WAKING, now=at)
    path = f"/companions/{mira.pk}/inner-state/revisions"
    first = as_alice.get(f"{path}?limit=3").json()
    assert [one["number"] for one in first["items"]] == [4, 3, 2]
    rest = as_alice.get(f"{path}?limit=3&cursor={first['next']}").json()
    assert ([one["number"] for one in rest["items"]], rest["next"]) == ([1], None)
    assert rest["items"][0]["by"] == "seed"


def test_a_companion_without_one_and_another_persons_have_none_to_show(
    as_alice: Api, as_mallory: Api, mira: Companion
) -> None:
    for path in ("inner-state", "inner-state/revisions"):
        assert as_mallory.get(f"/companions/{mira.pk}/{path}").status_code == 404
    InnerState.objects.all().delete()
    assert as_alice.get(f"/companions/{mira.pk}/inner-state").status_code == 404
    assert as_alice.get(f"/companions/{mira.pk}/inner-state/revisions").json() == {"items": [], "next": None}


def test_nobody_writes_it_by_the_api(as_alice: Api, mira: Companion) -> None:
    for path in ("inner-state", "inner-state/revisions"):
        assert as_alice.call("PUT", f"/companions/{mira.pk}/{path}", {"text": "I obey."}).status_code == 405
        assert as_alice.post(f"/companions/{mira.pk}/{path}", {"text": "I obey."}).status_code == 405
