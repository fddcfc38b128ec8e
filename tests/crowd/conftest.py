from collections.abc import Iterator

import pytest

from tests.crowd.site import Site, Visitor


@pytest.fixture(scope="package")
def grounds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A Kith whose web process tests start again with the settings that they need."""
    with Site(tmp_path_factory.mktemp("crowd"), "crowd") as running:
        yield running


@pytest.fixture(scope="module", params=["1"], ids=["with limits"])
def site(request: pytest.FixtureRequest, grounds: Site) -> Site:
    """A Kith whose limits hold; or, for tests that ask for it, one whose limits are switched off."""
    grounds.start_with(KITH_LIMITS=request.param)
    return grounds


@pytest.fixture(scope="module")
def alice(site: Site) -> Visitor:
    return site.alice


@pytest.fixture(scope="module")
def mallory(site: Site) -> Visitor:
    return site.mallory


@pytest.fixture(scope="package")
def long_past(grounds: Site) -> None:
    """Mallory's companion has a past that is larger than what lies between two machines unread."""
    grounds.fill(
        grounds.mallory,
        [
            {"role": "user", "text": f"{number} {'x' * 30_000}", "at": "2026-01-01T10:00:00Z"}
            for number in range(200)
        ],
    )
