"""Kith's settings in pytest's own process; what tests start reads `tests.fixtures.started`."""

from config import settings as kith

globals().update({name: value for name, value in vars(kith).items() if name.isupper()})
# Threads of tests take connections from a pool, as Kith's do: a new one costs Postgres as much as many a test. There are
# always enough, for some threads end without giving theirs back.
kith.DATABASES["default"]["OPTIONS"]["pool"] |= {"max_size": 1_000, "max_idle": 600, "timeout": 30}
# A machine that stands still for a second is no Redis that is away.
kith.CACHES["default"]["OPTIONS"] |= {"socket_timeout": 30, "socket_connect_timeout": 30}
kith.LOGGING["root"]["handlers"] = []  # pytest shows what was logged
kith.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
# As if an operator had set it: no database is asked for another. Nobody listens there.
kith.CHAT["base_url"], LLM_SLOTS = "http://127.0.0.1:9/v1", 0
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
