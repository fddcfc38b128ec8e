"""Settings that would open a door by mistake stop the start."""

import base64
import importlib
import os
import re
import runpy
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.test import override_settings

from config.setting_rules import Environment, encryption_keys, private_storage
from config.up.home import PREFIXES, find_settings, write_private_file
from providers.speech.synthesis import BROWSER, ENGINES

PUBLIC = "https://kith.example.org"
ROOT = Path(__file__).resolve().parents[1]
SECRET = "a-secret-of-these-tests-0123456789-abcdefghijklmnopqrst"
KEY = base64.urlsafe_b64encode(b"k" * 32).decode()


def load_settings(
    environment: dict[str, str], without: tuple[str, ...] = ("KITH_", "SECRET_")
) -> dict[str, Any]:
    """Return all that the settings module defines where only this environment is set, read in this process."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(without)}
    with mock.patch.dict(os.environ, kept | environment, clear=True):
        return runpy.run_path(str(ROOT / "platform" / "config" / "settings.py"))


def refusal(**environment: str) -> str:
    """Return what stops the start; empty where nothing does."""
    try:
        load_settings(environment)
    except ImproperlyConfigured as error:
        return str(error)
    return ""


def test_a_refusal_ends_the_process_with_its_reason() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import django; django.setup()"],
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings", "KITH_URL": "kith.example.org"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "it must begin with http:// or https://" in done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("DATABASE_POOL", "many", "a number"),
        ("KITH_SPEECH_DAYS", "", "a number"),
        ("LLM_TEMPERATURE", "warm", "a number"),
        ("KITH_TICK_SECONDS", "5m", "a number"),
        ("KITH_DRAIN_SECONDS", "", "a number"),
        ("KITH_LIMITS", "ture", "true or false"),
        ("KITH_LIMITS", "", "true or false"),
    ],
)
def test_a_number_or_a_switch_that_is_none_is_told_with_its_name(name: str, value: str, told: str) -> None:
    assert refusal(**{name: value}) == f"{name} is {value!r}; it must be {told}."


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("DATABASE_POOL", "0", "DATABASE_POOL is 0; it must be a number of at least 1."),
        ("LLM_CONTEXT_TOKENS", "1", "LLM_CONTEXT_TOKENS is 1; it must be a number of at least 1024."),
        ("PORT", "99999", "PORT is 99999; it must be a number from 1 to 65535."),
        ("KITH_TOKENS_PER_DAY", "-1", "KITH_TOKENS_PER_DAY is -1; it must be a number of at least 0."),
        ("KITH_TICK_SECONDS", "0", "KITH_TICK_SECONDS is 0; it must be more than 0."),
        ("KITH_DRAIN_SECONDS", "-1", "KITH_DRAIN_SECONDS is -1; it must be a number from 0 to 31,536,000."),
        ("LLM_TOP_P", "inf", "LLM_TOP_P is inf; it must be a number from 0 to 1."),
        ("KITH_COMPANIONS_MB", "-1", "KITH_COMPANIONS_MB is -1; it must be a number of at least 0."),
        ("KITH_LEASE_RENEWED_SECONDS", "30", "KITH_LEASE_LOST_SECONDS is 20; it must be longer than"),
        (
            "LLM_BASE_URL",
            "127.0.0.1:8080",
            "LLM_BASE_URL is no address: it must begin with http:// or https://",
        ),
        ("REDIS_URL", "foo", "REDIS_URL is no address: it must begin with redis:// or rediss:// or unix://"),
        ("DATABASE_URL", "mysql://kith:secret@db/kith", "DATABASE_URL is no address of a PostgreSQL: "),
        ("EMAIL_URL", "smtp://:secret@", "EMAIL_URL is no address of a mail server: "),
        ("EMAIL_URL", "mail.example.org", "EMAIL_URL is no address of a mail server: "),
        (
            "DEFAULT_FROM_EMAIL",
            "foo",
            "DEFAULT_FROM_EMAIL is 'foo'; it must be a mail address, or: Name <address>.",
        ),
        ("S3_ENDPOINT", "foo", "S3_ENDPOINT is no address: it must begin with http:// or https://"),
        ("LLM_ANSWER_TOKENS", "9000", "LLM_ANSWER_TOKENS is 9000; it must be a number from 1 to 8192."),
        ("KITH_OUTBOUND_ALLOWED", "push.lan:8443, nas", "KITH_OUTBOUND_ALLOWED has the entry 'nas'; "),
        ("SPEECH_ENGINE", "piper", "SPEECH_ENGINE is 'piper'; it must be one of: openai, f5, "),
        ("SPEECH_FORMAT", "ogg", "SPEECH_FORMAT is 'ogg'; it must be one of: mp3, "),
        ("EMBEDDING_QUERY_FIELDS", "task", "EMBEDDING_QUERY_FIELDS is no JSON: "),
        ("SPEECH_REFERENCES", "[", "SPEECH_REFERENCES is no JSON"),
        ("SPEECH_REFERENCES", "[1]", "SPEECH_REFERENCES must be a JSON object"),
        ("LLM_MODEL", "\udcff", "LLM_MODEL is not UTF-8."),
        (
            "KITH_URL",
            "http://127.0.0.1:abc",
            "KITH_URL is 'http://127.0.0.1:abc'; it must begin with http:// or ",
        ),
        (
            "KITH_URL",
            "https://example.org/kith",
            "KITH_URL is 'https://example.org/kith'; it must begin with ",
        ),
    ],
)
def test_a_value_that_cannot_be_used_is_told_with_its_name_and_no_password(
    name: str, value: str, told: str
) -> None:
    said = refusal(**{name: value})
    assert said.startswith(told)
    assert "secret" not in said


@pytest.mark.parametrize("name", ["KITH_HOME", "PORT", "DATABASE_URL", "REDIS_URL", "SECRET_KEY"])
def test_an_empty_setting_of_make_up_counts_as_unset(name: str) -> None:
    unset, empty = (load_settings(given, without=("KITH_", "SECRET_", name)) for given in ({}, {name: ""}))
    settings = ("KITH_HOME", "PORT", "DATABASES", "REDIS_URL", "SECRET_KEY")
    assert [empty[setting] for setting in settings] == [unset[setting] for setting in settings]


def test_every_speech_engine_can_be_set() -> None:
    assert {*load_settings({})["SPEECH_ENGINES"]} == {*ENGINES, BROWSER}


@pytest.mark.parametrize(
    "url", ["kith.example.org", "//kith.example.org", "ftp://kith.example.org", "https://"]
)
def test_an_address_that_names_no_host_is_not_taken_for_this_machine(url: str) -> None:
    assert "it must begin with http:// or https://" in refusal(KITH_URL=url)


def test_a_misspelt_setting_is_told_with_the_nearest_name() -> None:
    given = {
        "KITH_SINGUP": "closed",
        "KITH_SIGNUP": "open",
        "KITH_ZZZ": "1",
        "KITH_ENGINE_KEY": "of-this-run",
        "LLM_FILE": "model.gguf",
        "LLM_MODLE": "m",
        "EMBEDDING_PREVIOUS_MAX_TOKENS": "480",
    }
    assert load_settings(given)["UNKNOWN_SETTINGS"] == [
        "Kith has no setting KITH_SINGUP. Did you mean KITH_SIGNUP?",
        "Kith has no setting KITH_ZZZ.",
        "Kith has no setting LLM_MODLE. Did you mean LLM_MODEL?",
    ]
    documented = set(
        re.findall(rf"`((?:{'|'.join(PREFIXES)})\w+)`", (ROOT / "docs" / "settings.md").read_text())
    )
    assert documented - load_settings({})["env"].names == set()


def test_a_public_kith_needs_its_secret() -> None:
    assert "Set SECRET_KEY" in refusal(KITH_URL=PUBLIC, KITH_ENCRYPTION_KEY=KEY)
    assert "Set KITH_ENCRYPTION_KEY" in refusal(KITH_URL=PUBLIC, SECRET_KEY=SECRET)
    assert not refusal(KITH_URL=PUBLIC, SECRET_KEY=SECRET, KITH_ENCRYPTION_KEY=KEY)
    assert not refusal()


@pytest.mark.parametrize("key", ["kith-on-this-machine-only", SECRET[:31], "ab" * 40])
def test_a_public_kith_refuses_a_secret_that_can_be_guessed(key: str) -> None:
    said = refusal(KITH_URL=PUBLIC, KITH_ENCRYPTION_KEY=KEY, SECRET_KEY=key)
    assert "SECRET_KEY is too easy to guess" in said
    assert key not in said


@pytest.mark.parametrize(
    ("environment", "seconds"),
    [
        ({}, 0),
        ({"KITH_URL": PUBLIC}, 31_536_000),
        ({"KITH_URL": "http://kith.example.org"}, 0),
        ({"KITH_URL": PUBLIC, "KITH_HSTS_SECONDS": "60"}, 60),
    ],
)
def test_browsers_come_back_by_https_alone(environment: dict[str, str], seconds: int) -> None:
    secrets = {"SECRET_KEY": SECRET, "KITH_ENCRYPTION_KEY": KEY}
    assert load_settings(secrets | environment)["SECURE_HSTS_SECONDS"] == seconds


@pytest.mark.parametrize(
    ("server", "verification", "is_told"),
    [("", "none", False), ("smtp://mail.example:25", "mandatory", True)],
)
def test_addresses_are_verified_and_changes_told_where_mail_is_sent(
    server: str, verification: str, is_told: bool
) -> None:
    read = load_settings({"EMAIL_URL": server})
    assert (read["ACCOUNT_EMAIL_VERIFICATION"], read["ACCOUNT_EMAIL_NOTIFICATIONS"]) == (
        verification,
        is_told,
    )


def test_djangos_check_of_a_public_kith_finds_nothing() -> None:
    public = {"KITH_URL": PUBLIC, "SECRET_KEY": SECRET, "KITH_ENCRYPTION_KEY": KEY}
    given = load_settings(public)
    set_up_once = {"DATABASES", "INSTALLED_APPS"}
    with override_settings(
        **{name: given[name] for name in given if name.isupper() and name not in set_up_once}
    ):
        call_command("check", deploy=True, fail_level="WARNING", stderr=(told := StringIO()))
    assert told.getvalue() == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("KITH_ENCRYPTION_KEY", "too-short"),
        ("KITH_ENCRYPTION_KEY", ","),
        ("KITH_ENCRYPTION_KEY", f"{KEY},no+key/{KEY[8:]}!"),
        ("KITH_ENCRYPTION_KEY", "+/" + KEY[2:]),
        ("KITH_VAPID_KEY", "A" * 43),
        ("KITH_VAPID_KEY", "_" * 42 + "8"),
        ("KITH_VAPID_KEY", KEY[:20]),
        ("KITH_VAPID_KEY", "-----BEGIN PRIVATE KEY-----"),
    ],
)
def test_a_key_that_is_none_stops_the_start_and_is_not_shown(name: str, text: str) -> None:
    said = refusal(**{name: text})
    assert name in said
    assert "32 bytes in base64url" in said
    assert text == "," or text not in said
    assert KEY not in said


def test_keys_may_be_several_and_without_padding() -> None:
    assert not refusal(KITH_ENCRYPTION_KEY=f"{KEY}, {KEY}", KITH_VAPID_KEY=KEY.rstrip("="))
    assert encryption_keys(f"{KEY.rstrip('=')} , {KEY}") == [KEY, KEY]


PREVIOUS = {"EMBEDDING_PREVIOUS_MODEL": "older"}
ELSEWHERE = {"EMBEDDING_PREVIOUS_BASE_URL": "https://other.example.org/v1"}
OWN_KEY = {"EMBEDDING_PREVIOUS_API_KEY": "own"}


@pytest.mark.parametrize(
    ("environment", "asked"),
    [
        ({}, {}),
        (PREVIOUS, {"base_url": "https://new.example.org/v1", "api_key": "secret"}),
        (PREVIOUS | OWN_KEY, {"base_url": "https://new.example.org/v1", "api_key": "own"}),
        (PREVIOUS | ELSEWHERE, {"base_url": "https://other.example.org/v1", "api_key": ""}),
        (PREVIOUS | ELSEWHERE | OWN_KEY, {"base_url": "https://other.example.org/v1", "api_key": "own"}),
    ],
)
def test_the_key_of_the_wanted_embedder_goes_to_nobody_else(
    environment: dict[str, str], asked: dict[str, str]
) -> None:
    wanted = {"EMBEDDING_BASE_URL": "https://new.example.org/v1", "EMBEDDING_API_KEY": "secret"}
    previous = load_settings(wanted | environment, without=("EMBEDDING_",))["EMBEDDING_PREVIOUS"]
    assert {name: previous[name] for name in ("base_url", "api_key") if previous} == asked


@pytest.mark.parametrize("probability", ["1.5", "-0.1"])
def test_a_probability_that_is_none_stops_the_start(probability: str) -> None:
    assert "it must be a number from 0 to 1" in refusal(KITH_FLASHBACK_PROBABILITY=probability)


def test_a_bucket_is_named_whole_or_not_at_all() -> None:
    keys = {"S3_ACCESS_KEY": "key", "S3_SECRET_KEY": "secret"}
    assert "Set S3_BUCKET as well" in refusal(S3_ENDPOINT="https://s3.example.org")
    assert "Set S3_ACCESS_KEY and S3_SECRET_KEY together" in refusal(S3_BUCKET="kith", S3_ACCESS_KEY="key")
    assert not refusal(S3_BUCKET="kith", **keys)
    assert not refusal(S3_BUCKET="kith")


def test_a_bucket_takes_the_folders_place() -> None:
    said = Environment()
    said.ENVIRON = {}
    assert private_storage(said, Path("media"))["BACKEND"] == "files.storage.PrivateFolder"
    said.ENVIRON = {"S3_BUCKET": "kith", "S3_ENDPOINT": "https://s3.example.org"}
    made = private_storage(said, Path("media"))
    assert made["BACKEND"] == "files.s3.PrivateS3"
    assert made["OPTIONS"]["bucket_name"] == "kith"
    assert made["OPTIONS"]["endpoint_url"] == "https://s3.example.org"


def channel(redis: str) -> str:
    """The channel of events where Kith has this database of a Redis."""
    name = load_settings({"REDIS_URL": redis})["EVENTS_CHANNEL"]
    assert isinstance(name, str)
    return name


@pytest.mark.parametrize(
    ("redis", "broker"),
    [
        ("redis://:secret@127.0.0.1:6379/3", "redis://:secret@127.0.0.1:6379/3"),
        ("rediss://example.org/", "rediss://example.org/"),
        ("unix:///run/redis.sock", "redis+socket:///run/redis.sock?virtual_host=0"),
        ("unix://:secret@/run/redis.sock?db=3", "redis+socket://:secret@/run/redis.sock?virtual_host=3"),
    ],
)
def test_celery_goes_to_the_same_redis(redis: str, broker: str) -> None:
    assert load_settings({"REDIS_URL": redis})["CELERY_BROKER_URL"] == broker


@pytest.mark.parametrize("redis", ["redis://127.0.0.1:6379/", "unix:///run/redis.sock?db="])
def test_kiths_that_share_a_redis_do_not_hear_each_other(redis: str) -> None:
    """What is published in one database of a Redis is heard in all of them."""
    assert channel(f"{redis}1") != channel(f"{redis}2")


def test_only_the_web_process_limits_how_long_its_queries_take() -> None:
    importlib.import_module("config.asgi")  # which tells so of its process
    web, limited = {"KITH_IS_WEB": os.environ["KITH_IS_WEB"]}, {"KITH_STATEMENT_SECONDS": "7"}
    given = [limited, limited | web, web, web | {"KITH_STATEMENT_SECONDS": "0"}]
    databases = [load_settings(environment)["DATABASES"]["default"] for environment in given]
    options = [database["OPTIONS"].get("options", "") for database in databases]
    assert options == ["", "-c statement_timeout=7000", "-c statement_timeout=30000", ""]


def test_make_up_hands_every_setting_on_to_commands() -> None:
    table = (ROOT / "docs" / "settings.md").read_text()
    names = re.findall(r"`([A-Z][A-Z0-9_]+)`", " ".join(re.findall(r"(?m)^\| ([^|]+) \|", table)))
    assert len(names) > 80
    environment = dict.fromkeys(names, "given") | {"PATH": "/bin", "KITH_OTHER": "two\nlines"}
    assert sorted(find_settings(environment)) == sorted({*names} - {"PORT"})  # which each run has of its own


def test_what_make_up_hands_on_arrives_as_it_was_given(tmp_path: Path) -> None:
    values = [
        "",
        " a  # b ",
        "$b",
        '"a b"',
        "'a b'",
        "'\"a\"'",
        '"a\\"',
        "\\n",
        '"',
        '"Olive" <a@b.org>',
        "#a=b",
    ]
    given = {f"KITH_{number}": value for number, value in enumerate(values)}
    not_handed_on = {"KITH_LINES": "two\nlines", "KITH_LATIN": "\udce9", "PATH": "/bin"}
    write_private_file(tmp_path / "running", find_settings(given | not_handed_on))
    with mock.patch.dict(os.environ, clear=True):
        Environment.read_env(tmp_path / "running")
        assert dict(os.environ) == given
