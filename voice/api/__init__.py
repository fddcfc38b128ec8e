"""The voice part of the REST API: routers under /companions, and those that stand by themselves."""

from ninja import Router

from voice.api import recordings, speech, voices

of_companions: tuple[Router, ...] = (speech.router, voices.router, recordings.router)
by_themselves: tuple[Router, ...] = (recordings.transcriptions,)
