"""The voice part of the REST API: the routers below /companions, and those at the top level."""

from ninja import Router

from voice.api import recordings, speech, voices

of_companions: tuple[Router, ...] = (speech.router, voices.router, recordings.router)
by_themselves: tuple[Router, ...] = (recordings.transcriptions,)
