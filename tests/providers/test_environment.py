"""What the environment says to the SDK is told to no server, and no proxy hears what this machine's models are asked."""

import os
import runpy
from contextlib import suppress
from urllib.request import getproxies_environment, proxy_bypass

import pytest
from aiohttp import web

from config.up.ports import find_free_port
from jobs.sandbox import SOURCE_ROOT
from providers.chat.client import ChatClient, Timeouts
from providers.embedding.remote import RemoteEmbedder
from providers.errors import ProviderError
from providers.http.clients import aclose_clients
from providers.sound_server import SoundServer
from tests.fixtures.model_servers import serve

SECRET = "of-the-environment"
VARIABLES = {
    "OPENAI_API_KEY": SECRET,
    "OPENAI_ADMIN_KEY": SECRET,
    "OPENAI_ORG_ID": SECRET,
    "OPENAI_PROJECT_ID": SECRET,
    "OPENAI_CUSTOM_HEADERS": f"X-Secret: {SECRET}\nAuthorization: Bearer {SECRET}",
}
PAGES = {f"/v1/{page}" for page in ("chat/completions", "embeddings", "audio/speech", "audio/transcriptions")}


async def ask_all(url: str) -> None:
    """Ask a server everything that the SDK is used for, each with a client made now."""
    chat = ChatClient(url, "", "m", Timeouts(5, 5, 5, 0))
    with suppress(ProviderError):
        async for _ in chat.stream([{"role": "user", "content": "Hi"}]):
            pass
    await chat.aclose()
    with suppress(ProviderError):
        RemoteEmbedder(url, "", "m").embed_documents(["Hi"])
    sound = SoundServer(url, "", 5, 5)
    with suppress(ProviderError):
        await sound.request_by_sdk(
            lambda audio: audio.speech.with_streaming_response.create(model="m", voice="v", input="Hi")
        )
    with suppress(ProviderError):
        await sound.request_by_sdk(
            lambda audio: audio.transcriptions.with_streaming_response.create(model="m", file=("a.wav", b"a"))
        )
    await aclose_clients()


async def test_no_client_sends_what_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, str] = {}

    async def note(request: web.Request) -> web.Response:
        asked[request.path] = str(dict(request.headers))
        return web.json_response({"error": "No."}, status=400)

    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    runpy.run_path(str(SOURCE_ROOT / "config" / "settings.py"))  # as every process of Kith begins
    with serve({"/{any:.*}": note}) as url:
        await ask_all(f"{url}/v1")
    assert set(asked) == PAGES
    assert SECRET not in "".join(asked.values())


async def test_models_on_this_machine_are_asked_without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[str] = set()

    async def note(request: web.Request) -> web.Response:
        asked.add(request.path)
        return web.json_response({"error": "No."}, status=400)

    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{find_free_port()}")
    monkeypatch.setenv("no_proxy", "intranet.example.org")
    runpy.run_path(str(SOURCE_ROOT / "config" / "settings.py"))
    with serve({"/{any:.*}": note}) as url:
        await ask_all(f"{url}/v1")
    assert asked == PAGES
    assert proxy_bypass("intranet.example.org")


def test_no_proxy_stays_where_all_servers_are_asked_without_one_and_where_none_is_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    runpy.run_path(str(SOURCE_ROOT / "config" / "settings.py"))
    assert not getproxies_environment()  # else macOS's own settings do not count
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{find_free_port()}")
    monkeypatch.setenv("no_proxy", "*")
    runpy.run_path(str(SOURCE_ROOT / "config" / "settings.py"))
    assert proxy_bypass("bucket.example.org")  # as the object storage's client asks
