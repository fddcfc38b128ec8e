"""Where voice and ears answer."""

from aiohttp import web

from providers.rehearsal.sound.control import ROUTES as CONTROL
from providers.rehearsal.sound.speaking import speak, voices
from providers.rehearsal.sound.transcribing import transcribe

ROUTES = [
    web.post("/v1/audio/speech", speak),
    web.get("/v1/audio/voices", voices),
    web.post("/v1/audio/transcriptions", transcribe),
]

__all__ = ["CONTROL", "ROUTES"]
