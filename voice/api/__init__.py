"""The voice part of the REST API: routers under /companions, and those that stand by themselves."""

from ninja import Router

from voice.api import hearing, speaking, voices

of_companions: tuple[Router, ...] = (speaking.router, voices.router, hearing.router)
by_themselves: tuple[Router, ...] = (hearing.alone,)
