"""An archive that somebody brought, for bench/screenshots/seed.py."""

import io
from datetime import datetime

from asgiref.sync import async_to_sync

from accounts.models import User
from companions.archives.export import export_archive
from companions.archives.uploads import keep_upload
from companions.models import ArchiveUpload, Companion


def keep_archive(person: User, now: datetime, companion: Companion) -> ArchiveUpload:
    """Keep that companion's archive, as it is now, as somebody's upload."""

    async def join() -> bytes:
        return b"".join([piece async for piece in export_archive(companion, now)])

    return keep_upload(person, io.BytesIO(async_to_sync(join)()), now)
