"""Kith's settings in pytest's own process; what tests start reads `config.settings`."""

from config.settings import *  # noqa: F403
from config.settings import CACHES, DATABASES, LOGGING, STORAGES

# Each test's threads have connections of their own, gone with them.
DATABASES["default"]["OPTIONS"].pop("pool")
# A machine that stands still for a second is no Redis that is away.
CACHES["default"]["OPTIONS"] |= {"socket_timeout": 30, "socket_connect_timeout": 30}
LOGGING["root"]["handlers"] = []  # pytest shows what was logged
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
