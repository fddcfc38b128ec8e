"""The voice part of the REST API: routers under /companions, and those that stand by themselves."""

from ninja import Router

of_companions: tuple[Router, ...] = ()
by_themselves: tuple[Router, ...] = ()
