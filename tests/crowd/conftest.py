from collections.abc import Iterator

import pytest

from tests.crowd.site import Site, Visitor


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site(tmp_path_factory.mktemp("crowd"), "crowd") as running:
        yield running


@pytest.fixture(scope="session")
def alice(site: Site) -> Visitor:
    return site.visitor("alice")


@pytest.fixture(scope="session")
def mallory(site: Site) -> Visitor:
    return site.visitor("mallory")
