"""Recordings as a person's browser or program sends them."""

from functools import cache
from typing import Any
from uuid import UUID

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import AsyncClient
from django.utils import timezone

from accounts.models import Token, User
from companions.models import Companion
from files.contents import store_content
from files.models import StoredFile
from jobs.background import in_thread
from providers.sound import encode_mp3, encode_wav
from tests.fixtures.sound import hum
from voice.models import Recording

SAID = "My sister Ada lives in Lisbon."


@cache
def spoken(seconds: float = 1.0) -> bytes:
    """A sound as good as any to a scripted transcription."""
    return encode_wav(hum(seconds))


@cache
def spoken_mp3() -> bytes:
    """A second of it, as it is kept."""
    return encode_mp3(hum(1.0), {})


def hears(text: str = SAID, **step: Any) -> dict[str, Any]:
    """What the transcription is to answer next."""
    return {"capability": "transcription", "text": text, **step}


def recorded(companion: Companion, text: str = SAID, **fields: Any) -> Recording:
    """A recording that was heard and not sent."""
    content, now = spoken_mp3(), timezone.now()
    kind = StoredFile.Kind.RECORDING
    file = store_content(companion.user, content, kind, "audio/mpeg", now, companion=companion, seconds=1.0)
    given = {"heard": text, "seconds": 1.0, "created_at": now, **fields}
    return Recording.objects.create(companion=companion, file=file, **given)


class Browser:
    """Somebody signed in at the pages of one companion; within the event loop, so that replies are made in it."""

    def __init__(self, user: User, companion_id: UUID) -> None:
        self.user, self.path, self.client = user, f"/companions/{companion_id}/", AsyncClient()

    async def record(self, content: bytes, name: str = "recording.webm", **fields: str) -> Any:
        file = SimpleUploadedFile(name, content, "audio/webm")
        return await self.post("recordings/", file=file, **fields)

    async def post(self, path: str, **fields: Any) -> Any:
        await self.client.aforce_login(self.user)
        return await self.client.post(f"{self.path}{path}", fields)

    async def get(self, path: str) -> Any:
        await self.client.aforce_login(self.user)
        return await self.client.get(f"{self.path}{path}")


async def upload(user: User, path: str, content: bytes, name: str = "a.wav", **fields: str) -> Any:
    """The API's answer to a form with this file."""
    _, token = await in_thread(Token.objects.issue, user, "test")
    form = {"file": SimpleUploadedFile(name, content, "audio/wav"), **fields}
    headers = {"Authorization": f"Bearer {token}"}
    return await AsyncClient().post(f"/api/v1{path}", form, headers=headers)
