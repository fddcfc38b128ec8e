from collections.abc import Iterator

import pytest

from tests.crowd.site import Site, Visitor


@pytest.fixture(scope="module", params=["1", "0"], ids=["with limits", "without"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A Kith whose limits hold, and one whose limits are switched off."""
    with Site(tmp_path_factory.mktemp("crowd"), "crowd", KITH_LIMITS=request.param) as running:
        yield running


@pytest.fixture(scope="module")
def alice(site: Site) -> Visitor:
    return site.alice


@pytest.fixture(scope="module")
def mallory(site: Site) -> Visitor:
    return site.mallory
