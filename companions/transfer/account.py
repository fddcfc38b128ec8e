"""Export of a person's account as one ZIP file, made while it is sent, so that it takes little memory at any size.

It holds `account.json`, one JSON file for each companion, the stored sounds and pictures, and a `README.txt`. The
account's fields are listed here one by one; passwords, tokens, sealed keys and addresses of push services are not among
them.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import datetime
from mimetypes import guess_extension
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile

import orjson
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.http import StreamingHttpResponse
from django.utils import timezone
from django.utils.text import slugify

from accounts.models import Token, User
from companions.models import Companion, GalleryReport, GalleryVersion, Lorebook
from companions.transfer.json_export import JSON_BEGINNING, export_json, stream_file
from files.archives import Archive, Outlet, is_zip
from files.contents import open_content
from files.errors import ContentLostError, FilesError
from files.models import StoredFile
from jobs.background import in_thread
from providers.models import OwnProvider
from safety.models import AuditEntry, Notice

VERSION = 1
ACCOUNT, README = "account.json", "README.txt"
README_TEXT = """This is everything that a Kith kept of one person: what they told it, and what came of it.

account.json            the account: person, addresses, devices, lorebooks for all companions, what was published.
                        The names of tokens and models are there, but no password and no key. "operators" lists what the
                        operators of this Kith opened and did of the person's, when, and why.
companions/NAME-ID.json one file for each companion. "companion" is its character; beside it is one list for each
                        kind of thing, for example:
                          messages     what was said: role is "user" for the person, "assistant" for the companion
                          memories     what is remembered; kind "said" repeats a message, others were learnt
                          diary, revisions, slots, blocks, timers, wakings, inner_states, lorebooks
files/KIND-ID.EXT       pictures and sound, by their ids in "files" of a companion; lost ones are in missing.txt

Every thing has an "id", and "..._id" names another one: "parent_id" of a message is the message before it, which
several may follow where an answer was tried again. Times are ISO 8601. All is JSON in UTF-8, which any editor shows.

This file is for reading, and for other programs. To go on with a companion in another Kith, use its archive instead:
"Download the archive" in its settings.
"""
PIECE_BYTES = 256_000
MAX_NAME_CHARACTERS = 40
PERSON_FIELDS = ("email", "name", "about", "time_zone", "language", "age_group", "date_joined", "last_login")
PUBLISHED_FIELDS = (
    *("character_id", "number", "state", "name", "published_as", "line", "summary", "tags", "language"),
    *("licence", "rating", "content", "submitted_at", "decided_at", "reason"),
)
TOKEN_FIELDS = ("name", "prefix", "created_at", "last_used_at", "expires_at", "revoked_at")


def describe_account(user: User, now: datetime) -> dict[str, Any]:
    """Return the account's data, except its companions, as written to `ACCOUNT`."""
    return {
        "format": "kith-account",
        "version": VERSION,
        "exported_at": now,
        "person": {name: getattr(user, name) for name in PERSON_FIELDS},
        "addresses": list(EmailAddress.objects.filter(user=user).values("email", "verified", "primary")),
        "tokens": list(Token.objects.owned_by(user).values(*TOKEN_FIELDS)),
        "own_models": list(
            OwnProvider.objects.owned_by(user).values("name", "base_url", "model", "context_tokens")
        ),
        "second_steps": list(
            Authenticator.objects.filter(user=user).values("type", "created_at", "last_used_at")
        ),
        "devices": list(UserSession.objects.filter(user=user).values("user_agent", "ip", "created_at")),
        "lorebooks": [
            book.as_card()
            for book in Lorebook.objects.owned_by(user).filter(companion=None).prefetch_related("entries")
        ],
        "published": [
            {name: getattr(version, name) for name in PUBLISHED_FIELDS}
            for version in GalleryVersion.objects.owned_by(user).order_by("character", "number")
        ],
        "reports": list(GalleryReport.objects.owned_by(user).values("kind", "text", "created_at")),
        "notices": list(Notice.objects.owned_by(user).values("kind", "made_at", "seen_at")),
        "operators": list(
            AuditEntry.objects.filter(owner=user).values("deed", "kind", "object_id", "at", "reason")
        ),
    }


def is_export(file: IO[bytes]) -> bool:
    """Return whether the file is a download of a whole account, or of a companion as JSON; rewind it to its beginning."""
    try:
        if file.read(len(JSON_BEGINNING)) == JSON_BEGINNING:
            return True
        return is_zip(file) and next(iter(Archive(file).entries), "") == ACCOUNT
    except FilesError:
        return False
    finally:
        file.seek(0)


async def export_account(user: User, now: datetime) -> AsyncIterator[bytes]:
    """Yield the ZIP file in pieces. Stored files whose content is lost are listed in its `missing.txt`.

    Raise StorageAwayError, which ends the download, if the storage fails.
    """
    outlet, missing = Outlet(), []
    with ZipFile(outlet, "w", ZIP_DEFLATED) as archive:
        archive.writestr(ACCOUNT, orjson.dumps(await in_thread(describe_account, user, now)))
        archive.writestr(README, README_TEXT)
        yield outlet.take()
        mine = Companion.objects.owned_by(user).select_related("user").order_by("pk")
        for companion in await in_thread(lambda: list(mine)):
            name = slugify(companion.name, allow_unicode=True)[:MAX_NAME_CHARACTERS]
            path = f"companions/{name or 'companion'}-{companion.pk}.json"
            with archive.open(path, "w", force_zip64=True) as entry:
                async for piece in export_json(companion, now):
                    await asyncio.to_thread(entry.write, piece)
                    yield outlet.take()
        stored = StoredFile.objects.owned_by(user).order_by("pk")
        for file in await in_thread(lambda: list(stored)):
            try:
                part = await in_thread(open_content, file)
            except ContentLostError:
                missing.append(str(file.pk))
                continue
            path = f"files/{file.kind}-{file.pk}{guess_extension(file.content_type) or ''}"
            with closing(part), archive.open(path, "w", force_zip64=True) as entry:
                while piece := await asyncio.to_thread(part.read, PIECE_BYTES):
                    await asyncio.to_thread(entry.write, piece)
                    yield outlet.take()
        if missing:
            archive.writestr("missing.txt", "\n".join(missing))
    yield outlet.take()


def account_export_response(user: User) -> StreamingHttpResponse:
    """Return a streaming response with all of the person's data as a ZIP file."""
    now = timezone.now()
    return stream_file(export_account(user, now), "application/zip", f"kith-{now:%Y-%m-%d}.zip")
