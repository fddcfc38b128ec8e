"""Who may open the pages that visit the database from several threads."""

import pytest

from accounts.models import User
from tests.pages.conftest import Told
from tests.pages.test_page_access import IN_THREADS, Sessions, check_page, sign_in

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("name", sorted(IN_THREADS))
@pytest.mark.usefixtures("speech_rehearsal")
def test_who_is_let_in(told: Told, alice: User, mallory: User, olive: User, name: str) -> None:
    check_page(told, Sessions(sign_in(alice), sign_in(mallory), sign_in(olive)), name)
