"""Validation of settings: an invalid one raises ImproperlyConfigured, which stops the start and never shows a key."""

import base64
import binascii
import json
import re
from datetime import timedelta
from difflib import get_close_matches
from email.utils import parseaddr
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

from cards.risum import read_table
from config.up.home import P256_ORDER, PREFIXES
from text.strings import is_storable

BASE64URL = re.compile(r"[A-Za-z0-9_-]*={0,2}")
KEY_BYTES = 32
SECRET_CHARACTERS = 32
SECRET_DISTINCT_CHARACTERS = 8
LAWFUL_MINUTES = 180
MAX_SECONDS = 31_536_000  # a year


class Environment(environ.Env):  # type: ignore[misc]
    """The environment; a value that cannot be used raises ImproperlyConfigured with the setting's name."""

    SWITCHES = {*environ.Env.BOOLEAN_TRUE_STRINGS, "false", "off", "n", "no", "0"}

    def __init__(self, **scheme: Any) -> None:
        super().__init__(**scheme)
        self.names: set[str] = set()  # of the variables that were looked for

    def get_value(self, var: str, cast: Any = None, *args: Any, **kwargs: Any) -> Any:
        self.names.add(var)
        given = self.ENVIRON.get(var)
        if given is not None and not is_storable(given):
            raise ImproperlyConfigured(f"{var} is not UTF-8.")
        if cast is bool and given is not None and given.lower() not in self.SWITCHES:
            raise ImproperlyConfigured(f"{var} is {given!r}; it must be true or false.")
        try:
            return super().get_value(var, cast, *args, **kwargs)
        except ValueError as error:
            if cast is not int:
                raise
            raise ImproperlyConfigured(f"{var} is {given!r}; it must be a number.") from error

    def find_unknown(self) -> list[str]:
        """Return a sentence for each variable with one of PREFIXES that was not looked for, since it may be misspelt."""
        sentences = []
        for name in sorted(
            name for name in self.ENVIRON if name.startswith(PREFIXES) and name not in self.names
        ):
            near = get_close_matches(name, sorted(self.names), n=1, cutoff=0.75)
            sentences.append(f"Kith has no setting {name}." + (f" Did you mean {near[0]}?" if near else ""))
        return sentences

    def count(self, var: str, default: Any, *, least: int = 0, most: int | None = None) -> Any:
        """Return the variable as a whole number, or `default`; raise ImproperlyConfigured if it is out of bounds."""
        given = self.get_value(var, int, default=default)
        if given is not None and (given < least or (most is not None and given > most)):
            bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
            raise ImproperlyConfigured(f"{var} is {given}; it must be a number {bounds}.")
        return given

    def number(self, var: str, default: Any, least: float, most: float) -> Any:
        """Return the variable as a number, or `default`; raise ImproperlyConfigured if it is none or out of bounds."""
        self.names.add(var)
        given = self.ENVIRON.get(var)
        if given is None:
            return default
        try:
            number = float(given)  # Env.float leaves out letters: 5m would be 5, and 1e3 would be 13
        except ValueError as error:
            raise ImproperlyConfigured(f"{var} is {given!r}; it must be a number.") from error
        if not least <= number <= most:
            raise ImproperlyConfigured(f"{var} is {given}; it must be a number from {least:,} to {most:,}.")
        return number

    def sampling(self, var: str, default: float | None, least: float, most: float) -> float | None:
        """Return the variable as `number` does, or None if it is empty: then the model's server chooses."""
        return None if self.ENVIRON.get(var) == "" else self.number(var, default, least, most)

    def seconds(self, var: str, default: float, *, may_be_zero: bool = False) -> float:
        """Return the variable as a number of seconds, or `default`; raise ImproperlyConfigured if it is none."""
        given = float(self.number(var, default, 0, MAX_SECONDS))
        if given == 0 and not may_be_zero:
            raise ImproperlyConfigured(f"{var} is 0; it must be more than 0.")
        return given

    def address(self, var: str, default: str = "", schemes: tuple[str, ...] = ("http", "https")) -> str:
        """Return the variable as a server's address, or `default`, which may be empty.

        Raise ImproperlyConfigured if it is no address; the error does not show it, because it may hold a password.
        """
        given = str(self.get_value(var, str, default=default))
        if given and not _is_address(given, schemes):
            begins = " or ".join(f"{scheme}://" for scheme in schemes)
            raise ImproperlyConfigured(f"{var} is no address: it must begin with {begins} and name a host.")
        return given

    def mailbox(self, var: str, default: str) -> str:
        """Return the variable as a sender, e.g. `Kith <kith@example.org>`; `default` if it is unset or empty.

        Raise ImproperlyConfigured if it names no mail address.
        """
        given = str(self.get_value(var, str, default=default)) or default
        user, _, host = parseaddr(given)[1].rpartition("@")
        if given != default and not (user and host and given.isprintable()):
            raise ImproperlyConfigured(f"{var} is {given!r}; it must be a mail address, or: Name <address>.")
        return given

    def one_of(self, var: str, default: str, known: tuple[str, ...]) -> str:
        """Return the variable, or `default`; raise ImproperlyConfigured if it is neither that nor among `known`."""
        given = str(self.get_value(var, str, default=default))
        if given not in (default, *known):
            raise ImproperlyConfigured(f"{var} is {given!r}; it must be one of: {', '.join(known)}.")
        return given

    def json_object(self, var: str) -> dict[str, Any]:
        """Return the variable as a JSON object, empty if it is not set; raise ImproperlyConfigured if it is none."""
        try:
            given = json.loads(self.get_value(var, str, default="") or "{}")
        except ValueError as error:
            raise ImproperlyConfigured(f"{var} is no JSON: {error}") from error
        if not isinstance(given, dict):
            raise ImproperlyConfigured(f"{var} must be a JSON object.")
        return given

    def host_ports(self, var: str) -> set[str]:
        """Return the variable as a set of `host:port`; raise ImproperlyConfigured if an entry is something else."""
        entries = {
            entry.strip() for entry in self.get_value(var, str, default="").split(",") if entry.strip()
        }
        for entry in sorted(entries):
            host, _, port = entry.rpartition(":")
            if not host or "/" in host or not port.isdecimal():
                raise ImproperlyConfigured(f"{var} has the entry {entry!r}; each must be host:port.")
        return entries


def _is_address(text: str, schemes: tuple[str, ...]) -> bool:
    try:
        address = urlsplit(text)
        port = address.port  # which raises ValueError if it is none
    except ValueError:
        return False
    has_place = bool(address.path) if address.scheme == "unix" else bool(address.hostname) and port != 0
    return address.scheme in schemes and has_place


def public_address(text: str) -> str:
    """Return Kith's own address without a slash at the end; raise ImproperlyConfigured if it cannot be one."""
    from django.http.request import split_domain_port  # with 11 MB that the runner does without

    said = f"KITH_URL is {text!r}; it must begin with http:// or https:// and name a host"
    if not _is_address(text, ("http", "https")):
        raise ImproperlyConfigured(f"{said}.")
    address = urlsplit(text)
    if address.path.strip("/") or address.query or address.fragment or address.username:
        raise ImproperlyConfigured(f"{said}, and nothing else but a port: Kith's pages begin at its root.")
    if not split_domain_port(address.netloc)[0]:
        raise ImproperlyConfigured(f"{said} in ASCII letters, digits, dots and hyphens (xn--… for others).")
    return text.rstrip("/")


def postgres_database(env: environ.Env, default: str) -> dict[str, Any]:
    """Return Django's entry for DATABASE_URL; raise ImproperlyConfigured, without showing it, if it is none."""
    try:
        found: dict[str, Any] = env.db_url("DATABASE_URL", default)
    except (ImproperlyConfigured, ValueError):
        found = {}
    if found.get("ENGINE") != "django.db.backends.postgresql":
        raise ImproperlyConfigured(
            "DATABASE_URL is no address of a PostgreSQL: postgresql://user:password@host:5432/name."
        )
    return found


def mail_server(env: environ.Env) -> dict[str, Any]:
    """Return Django's settings for EMAIL_URL; raise ImproperlyConfigured, without showing it, if it cannot be used."""
    try:
        found: dict[str, Any] = env.email_url("EMAIL_URL")
    except (ImproperlyConfigured, ValueError):
        found = {}
    if not found or ("smtp" in found["EMAIL_BACKEND"] and not found["EMAIL_HOST"]):
        raise ImproperlyConfigured(
            "EMAIL_URL is no address of a mail server: smtp+tls://user:password@host:587, or smtp+ssl:// or smtp://."
        )
    return found


def require_strong_secret(key: str) -> None:
    """Raise ImproperlyConfigured if SECRET_KEY, which signs sessions and links, could be guessed."""
    if len(key) < SECRET_CHARACTERS or len(set(key)) < SECRET_DISTINCT_CHARACTERS:
        raise ImproperlyConfigured(
            f"SECRET_KEY is too easy to guess: it needs at least {SECRET_CHARACTERS} characters, and "
            f"{SECRET_DISTINCT_CHARACTERS} different ones. Make one: openssl rand -base64 48"
        )


def encryption_keys(text: str) -> list[str]:
    """Return the comma-separated keys; raise ImproperlyConfigured if one is not 32 bytes in base64url."""
    keys = [key.strip() for key in text.split(",") if key.strip()]
    wrong = [number for number, key in enumerate(keys, 1) if len(_bytes(key)) != KEY_BYTES]
    if wrong or not keys:
        raise ImproperlyConfigured(
            f"KITH_ENCRYPTION_KEY: key {wrong[0] if wrong else 1} is not 32 bytes in base64url. "
            "Make one: openssl rand -base64 32 | tr +/ -_"
        )
    return [_padded(key) for key in keys]


def vapid_key(text: str) -> str:
    """Return the private key of notifications, or an empty string; raise ImproperlyConfigured if it is no P-256 key."""
    number = int.from_bytes(_bytes(text), "big")
    if text and (len(_bytes(text)) != KEY_BYTES or not 0 < number < P256_ORDER):
        raise ImproperlyConfigured(
            "KITH_VAPID_KEY is not the number of a private key on P-256: 32 bytes in base64url."
        )
    return text


def _bytes(key: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(_padded(key)) if BASE64URL.fullmatch(key) else b""
    except binascii.Error:
        return b""


def _padded(key: str) -> str:
    return key + "=" * (-len(key) % 4)


def break_after(minutes: int) -> timedelta:
    """Return how long a person may talk before a break is proposed: at most three hours, as the law demands."""
    if not 1 <= minutes <= LAWFUL_MINUTES:
        raise ImproperlyConfigured(
            f"KITH_BREAK_MINUTES is {minutes}; it must be a number from 1 to {LAWFUL_MINUTES}."
        )
    return timedelta(minutes=minutes)


def risuai_table(path: str) -> bytes:
    """Return the file's table, empty without a path; raise ImproperlyConfigured if the file holds none."""
    try:
        return read_table(Path(path).read_bytes()) if path else b""
    except (OSError, ValueError) as error:
        raise ImproperlyConfigured(f"KITH_RISUAI_MAP cannot be used: {error}.") from error


def celery_broker(redis_url: str) -> str:
    """Return the address of Redis as Celery takes it, which writes that of a Unix socket in a way of its own."""
    address = urlsplit(redis_url)
    if address.scheme != "unix":
        return redis_url
    return f"redis+socket://{address.netloc}{address.path}?virtual_host={redis_database(redis_url)}"


def redis_database(redis_url: str) -> str:
    """Return the number of the database that the address of Redis names."""
    address = urlsplit(redis_url)
    path = "" if address.scheme == "unix" else address.path.strip("/")
    return parse_qs(address.query).get("db", [path or "0"])[0]


def private_storage(env: Environment, folder: Path) -> dict[str, Any]:
    """Return the entry for STORAGES: the bucket that S3_BUCKET names, or otherwise `folder`."""
    said = {name: env.str(f"S3_{name}", "") for name in ("BUCKET", "ACCESS_KEY", "SECRET_KEY", "REGION")}
    said["ENDPOINT"] = env.address("S3_ENDPOINT")
    if not said["BUCKET"]:
        if any(said.values()):
            raise ImproperlyConfigured("Set S3_BUCKET as well: the other S3 settings do nothing without it.")
        return {"BACKEND": "files.storage.PrivateFolder", "OPTIONS": {"location": folder}}
    if bool(said["ACCESS_KEY"]) != bool(said["SECRET_KEY"]):
        raise ImproperlyConfigured("Set S3_ACCESS_KEY and S3_SECRET_KEY together, or neither.")
    options = {
        "bucket_name": said["BUCKET"],
        "endpoint_url": said["ENDPOINT"] or None,
        "access_key": said["ACCESS_KEY"] or None,
        "secret_key": said["SECRET_KEY"] or None,
        "region_name": said["REGION"] or None,
    }
    return {"BACKEND": "files.s3.PrivateS3", "OPTIONS": options}
