"""What a person says of themselves, over the API and on the page."""

import pytest

from accounts.models import User
from tests.fixtures.rest import Api

pytestmark = pytest.mark.django_db


def test_a_person_reads_and_changes_what_they_say_of_themselves(alice: User) -> None:
    api = Api(alice)
    changed = api.call("PATCH", "/me", {"about": "I repair clocks.", "name": "  Ali "})
    assert changed.status_code == 200
    alice.refresh_from_db()
    assert (alice.about, alice.name) == ("I repair clocks.", "Ali")
    assert api.get("/me").json()["about"] == "I repair clocks."
    assert api.call("PATCH", "/me", {"about": ""}).json()["about"] == ""


@pytest.mark.parametrize(
    "wrong",
    [
        {"about": "a" * 2_001},
        {"about": "\x00"},
        {"name": "n" * 81},
        {"time_zone": "Mars/Olympus"},
        {"language": "tlh"},
    ],
)
def test_what_does_not_fit_changes_nothing(alice: User, wrong: dict[str, str]) -> None:
    assert Api(alice).call("PATCH", "/me", wrong).status_code == 422
    alice.refresh_from_db()
    assert alice.about == ""
