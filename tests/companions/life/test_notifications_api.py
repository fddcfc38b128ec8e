"""The API of what concerns a person: settings of a life, unread counts, notices."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from companions.conversations.messages import open_session, say
from companions.models import Companion, Conversation, Life, Message
from safety import notices
from safety.models import Notice
from tests.fixtures.rest import Api, problem

pytestmark = pytest.mark.django_db


def wrote(companion: Companion, text: str) -> None:
    now = timezone.now()
    session = open_session(companion.conversation, now)
    said = {"companion": companion, "conversation": companion.conversation, "session": session}
    say(Message(**said, role="assistant", text=text, said_at=now), now)


def test_nobody_is_written_to_who_has_not_said_so(as_alice: Api, mira: Companion) -> None:
    assert as_alice.get(f"/companions/{mira.pk}/life/settings").json() == {
        "is_awake": True,
        "reaches_out": False,
        "is_muted": False,
        "most_a_day": 2,
        "quiet_from": "22:00:00",
        "quiet_until": "08:00:00",
        "sleeps_from": "23:30:00",
        "sleeps_until": "07:00:00",
        "by_email": False,
        "by_push": True,
    }


def test_what_is_changed_stays_changed_and_nothing_else_does(as_alice: Api, mira: Companion) -> None:
    path = f"/companions/{mira.pk}/life/settings"
    changed = as_alice.call("PATCH", path, {"reaches_out": True, "quiet_from": "21:30", "most_a_day": None})
    assert (changed.status_code, changed.json()["quiet_from"], changed.json()["most_a_day"]) == (
        200,
        "21:30:00",
        2,
    )
    assert Life.objects.get(companion=mira).reaches_out


@pytest.mark.parametrize(
    "body",
    [
        {"most_a_day": 11},
        {"most_a_day": -1},
        {"quiet_from": "25:00"},
        {"quiet_from": "22:00:00+05:00"},
        {"is_muted": "perhaps"},
        {"sleeps_until": "x" * 9999},
    ],
    ids=repr,
)
def test_what_cannot_be_is_refused(as_alice: Api, mira: Companion, body: object) -> None:
    problem(as_alice.call("PATCH", f"/companions/{mira.pk}/life/settings", body), 422, "not_valid")


def test_what_was_said_is_unread_until_it_is_read(
    as_alice: Api, mira: Companion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    assert as_alice.get("/unread").json() == {"total": 0, "companions": {}}
    wrote(mira, "One")
    wrote(mira, "Two")
    with django_assert_num_queries(2):  # the token, and the count
        assert as_alice.get("/unread").json() == {"total": 2, "companions": {str(mira.pk): 2}}
    assert as_alice.post(f"/companions/{mira.pk}/read", {}).status_code == 204
    assert as_alice.get("/unread").json()["total"] == 0


def test_a_message_is_read_by_its_time_as_the_api_gives_it(as_alice: Api, mira: Companion) -> None:
    """Which is cut to milliseconds."""
    wrote(mira, "One")
    Conversation.objects.update(read_until="2026-05-05T09:00:00Z")
    Message.objects.update(said_at="2026-05-05T10:00:00.006921Z")
    as_alice.post(f"/companions/{mira.pk}/read", {"until": "2026-05-05T10:00:00.006Z"})
    assert as_alice.get("/unread").json()["total"] == 0


def test_any_offset_of_a_time_is_read(as_alice: Api, mira: Companion) -> None:
    early = {"until": "2026-05-05T10:00:00+23:59"}  # which PostgreSQL does not read
    assert as_alice.post(f"/companions/{mira.pk}/read", early).status_code == 204


def test_nobody_reads_ahead(as_alice: Api, mira: Companion) -> None:
    ahead = (timezone.now() + timedelta(days=9)).isoformat()
    assert as_alice.post(f"/companions/{mira.pk}/read", {"until": ahead}).status_code == 204
    wrote(mira, "Later")
    assert as_alice.get("/unread").json()["total"] == 1


@pytest.mark.parametrize(
    "until",
    [
        "2026-05-05T10:00:00",
        "yesterday",
        "99999-01-01T00:00:00Z",
        10**18,
        "0001-01-01T00:00:00+23:59",  # year 0 in UTC
    ],
)
def test_what_is_no_moment_is_refused(as_alice: Api, mira: Companion, until: object) -> None:
    problem(as_alice.post(f"/companions/{mira.pk}/read", {"until": until}), 422, "not_valid")


def test_a_notice_is_listed_until_it_is_seen(as_alice: Api, alice: User) -> None:
    now = timezone.now()
    notices.record_use(alice, now, now)
    (notice,) = as_alice.get("/notices").json()["items"]
    assert (notice["kind"], "AI" in notice["text"]) == ("ai", True)
    assert as_alice.post(f"/notices/{notice['id']}/seen").status_code == 204
    assert as_alice.get("/notices").json()["items"] == []
    assert Notice.objects.get().seen_at is not None


def test_anothers_notice_is_not_there(as_alice: Api, mallory: User) -> None:
    now = timezone.now()
    (notice,) = notices.record_use(mallory, now, now)
    problem(as_alice.post(f"/notices/{notice.pk}/seen"), 404, "not_found")
