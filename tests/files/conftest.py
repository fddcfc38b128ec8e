"""The same claims on a folder of this machine and on a bucket of an S3 server."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from files.contents import store_content
from files.models import StoredFile
from files.storage import private
from tests.fixtures.storage import S3Server


@pytest.fixture(params=["folder", "s3"])
def storage(request: pytest.FixtureRequest, folder: Path) -> str:
    """Where contents lie in this run of the test."""
    if request.param == "s3":
        request.getfixturevalue("s3")
    return str(request.param)


@pytest.fixture
def all_keys(folder: Path) -> Callable[[], set[str]]:
    """The names of all that the storage holds."""
    return lambda: {one.key for kind in StoredFile.Kind.values for one in private().contents(kind)}


def stored(user: User, content: bytes = b"sound", **more: Any) -> StoredFile:
    more = {"kind": StoredFile.Kind.SPEECH, "content_type": "audio/mpeg", "now": timezone.now(), **more}
    return store_content(user, content, **more)


@pytest.fixture
def away(request: pytest.FixtureRequest, storage: str, folder: Path) -> Callable[[], None]:
    """Make the storage fail at whatever is asked of it."""

    def fail() -> None:
        if storage == "s3":
            server: S3Server = request.getfixturevalue("s3")
            server.fail("error", "GET", "PUT", "POST", "HEAD", "DELETE")
        else:
            if folder.exists():
                folder.rename(folder.with_name(f"{folder.name}-moved"))
            folder.write_bytes(b"")  # no folder any more: the system refuses to look into it

    return fail
