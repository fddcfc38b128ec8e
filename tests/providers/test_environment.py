"""What the environment says to the SDK is told to no server."""

import os
import subprocess
import sys
from pathlib import Path

from aiohttp import web

from jobs.sandbox import SOURCE_ROOT
from tests.fixtures.model_servers import serve

ASK_ALL = """
import asyncio, sys
from contextlib import suppress
import django
django.setup()
from providers.chat.client import ChatClient, Timeouts
from providers.embedding.remote import RemoteEmbedder
from providers.errors import ProviderError
from providers.sound_server import SoundServer

async def ask(url):
    with suppress(ProviderError):
        async for _ in ChatClient(url, "", "m", Timeouts(5, 5, 5, 0)).stream([{"role": "user", "content": "Hi"}]):
            pass
    with suppress(ProviderError):
        RemoteEmbedder(url, "", "m").embed_documents(["Hi"])
    sound = SoundServer(url, "", 5, 5)
    with suppress(ProviderError):
        await sound.request_by_sdk(
            lambda audio: audio.speech.with_streaming_response.create(model="m", voice="v", input="Hi"))
    with suppress(ProviderError):
        await sound.request_by_sdk(
            lambda audio: audio.transcriptions.with_streaming_response.create(model="m", file=("a.wav", b"a")))

asyncio.run(ask(sys.argv[1]))
"""
SECRET = "of-the-environment"
VARIABLES = {
    "OPENAI_API_KEY": SECRET,
    "OPENAI_ADMIN_KEY": SECRET,
    "OPENAI_ORG_ID": SECRET,
    "OPENAI_PROJECT_ID": SECRET,
    "OPENAI_CUSTOM_HEADERS": f"X-Secret: {SECRET}\nAuthorization: Bearer {SECRET}",
}


def test_no_client_sends_what_the_environment_says(tmp_path: Path) -> None:
    asked: dict[str, str] = {}

    async def note(request: web.Request) -> web.Response:
        asked[request.path] = str(dict(request.headers))
        return web.json_response({"error": "No."}, status=400)

    kith = {
        "PYTHONPATH": str(SOURCE_ROOT),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "KITH_HOME": str(tmp_path),
    }
    with serve({"/{any:.*}": note}) as url:
        command = [sys.executable, "-c", ASK_ALL, f"{url}/v1"]
        subprocess.run(
            command, env=os.environ | kith | VARIABLES, cwd=SOURCE_ROOT.parent, check=True, timeout=60
        )
    assert set(asked) == {
        f"/v1/{page}" for page in ("chat/completions", "embeddings", "audio/speech", "audio/transcriptions")
    }
    assert SECRET not in "".join(asked.values())
