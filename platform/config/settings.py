"""Kith's settings, read from the environment; a bare checkout runs with the defaults here."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies_environment

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from config.setting_rules import (
    Environment,
    break_after,
    celery_broker,
    encryption_keys,
    mail_server,
    postgres_database,
    private_storage,
    public_address,
    redis_database,
    require_strong_secret,
    risuai_table,
    vapid_key,
)

BASE_DIR = Path(__file__).resolve().parents[2]
env = Environment()
# As for `make up`; otherwise manage.py beside it would not read their values from the file `running`.
for variable in ("KITH_HOME", "PORT", "DATABASE_URL", "REDIS_URL", "SECRET_KEY", "KITH_ENCRYPTION_KEY"):
    if os.environ.get(variable) == "":
        del os.environ[variable]

#: `KITH_HOME` | `.kith` | folder for data, logs and mail
KITH_HOME = Path(env.str("KITH_HOME", str(BASE_DIR / ".kith"))).resolve()
DISK_RESERVE_BYTES = 500_000_000  # below which the health check calls the disk of KITH_HOME almost full
if (KITH_HOME / "running").exists():  # the settings of a running `make up`, for manage.py beside it
    env.read_env(KITH_HOME / "running")
# OpenAI's SDK would send the values of these to every server that it calls, even a person's own.
for variable in [variable for variable in os.environ if variable.startswith("OPENAI_")]:
    del os.environ[variable]
# Models on this machine, Kith's own among them, are asked directly, whatever HTTP_PROXY says.
# Nothing is set where no proxy is, or macOS's own settings would not count, nor after "*", which counts alone only.
if (proxies := getproxies_environment()) and proxies.get("no") != "*":
    os.environ["no_proxy"] = ",".join(filter(None, [proxies.get("no"), "localhost", "127.0.0.1", "::1"]))
#: `PORT` | `8000` | port on which `make up` listens, on 127.0.0.1
PORT = env.count("PORT", 8000, least=1, most=65535)
#: `KITH_URL` | `http://127.0.0.1:PORT` | the public address. Any address other than this machine means production
KITH_URL = public_address(env.str("KITH_URL", f"http://127.0.0.1:{PORT}"))
HOST = urlsplit(KITH_URL).hostname or "127.0.0.1"
LOOPBACK = {"127.0.0.1", "localhost", "[::1]", "::1"}
IS_PRODUCTION = HOST not in LOOPBACK
DEBUG = False


def secret(name: str, *, default: str) -> str:
    """Return the secret from the environment, or `default`; in production raise ImproperlyConfigured if it is unset."""
    value = env.str(name, "")
    if not value and IS_PRODUCTION:
        raise ImproperlyConfigured(
            f"Set {name}: KITH_URL is {KITH_URL}, and a public Kith needs its secrets."
        )
    return value or default


#: `SECRET_KEY` | in `KITH_HOME/secrets`, where `make up` generates it | key for signing. In production, processes that
#:   `make up` does not start need it set
SECRET_KEY = secret("SECRET_KEY", default="kith-on-this-machine-only")
if IS_PRODUCTION:
    require_strong_secret(SECRET_KEY)
#: `KITH_ENCRYPTION_KEY` | like `SECRET_KEY` | encrypts secrets in the database. 32 bytes in base64url; or several keys,
#:   separated by commas, newest first: the first encrypts, all can decrypt
ENCRYPTION_KEYS = encryption_keys(
    secret("KITH_ENCRYPTION_KEY", default="a2l0aC1vbi10aGlzLW1hY2hpbmUtb25seS0tLS0tLS0=")
)
#: `KITH_VAPID_KEY` | like `SECRET_KEY` | signs push notifications; without it, none are sent. A
#:   private P-256 key, 32 bytes in base64url
VAPID_KEY = vapid_key(env.str("KITH_VAPID_KEY", ""))
ALLOWED_HOSTS = [HOST] if IS_PRODUCTION else sorted(LOOPBACK)
CSRF_TRUSTED_ORIGINS = [KITH_URL]
SECURE_SSL_REDIRECT = False  # the proxy in front of a public Kith redirects
IS_HTTPS = KITH_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_HTTPS
#: `KITH_HSTS_SECONDS` | a year if `KITH_URL` is a public https address, else `0` | how long browsers use only
#:   https (HSTS)
SECURE_HSTS_SECONDS = env.count("KITH_HSTS_SECONDS", 31_536_000 if IS_PRODUCTION and IS_HTTPS else 0)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if IS_PRODUCTION else None
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# -- parts ------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "config.apps.KithAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "channels",
    "csp",
    "django_htmx",
    "django_structlog",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "ninja",
    "config.apps.KithConfig",
    "providers",
    "accounts",
    "files",
    "safety",
    "memory",
    "companions",
    "voice",
    "integrations.push",
]
MIDDLEWARE = [
    "config.http.middleware.host_port_middleware",
    "django.middleware.security.SecurityMiddleware",
    "config.http.middleware.PageCompression",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "config.http.middleware.api_problem_middleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "config.http.middleware.RequestLog",
    "accounts.authentication.PersonMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "config.http.context_processors.platform",
            ],
        },
    }
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# -- data -------------------------------------------------------------------------------------------

#: `DATABASE_URL`, `REDIS_URL` | embedded | PostgreSQL ≥ 16 with pgvector ≥ 0.8; Redis ≥ 6.2 or Valkey
DATABASES = {"default": postgres_database(env, "postgres://postgres@127.0.0.1:5432/kith")}
#: `DATABASE_POOL` | `24` | maximum number of database connections per process
# Unused connections are closed one by one, every half minute, since each takes memory in Postgres.
POOL = {
    "min_size": 1,
    "max_size": env.count("DATABASE_POOL", 24, least=1),
    "max_idle": 30,
    "timeout": 5,
    "reconnect_timeout": 5,
}
DATABASES["default"] |= {
    "CONN_MAX_AGE": 0,
    "CONN_HEALTH_CHECKS": True,
    # DATABASE_URL may hold sslmode and other options.
    "OPTIONS": {**DATABASES["default"].get("OPTIONS", {}), "pool": POOL},
}
#: `KITH_STATEMENT_SECONDS` | `30` | how long the web process waits for a database query; `0` for no limit
STATEMENT_SECONDS = env.seconds("KITH_STATEMENT_SECONDS", 30.0, may_be_zero=True)
if STATEMENT_SECONDS and env.bool("KITH_IS_WEB", False):  # nobody waits for what workers and commands do
    options = DATABASES["default"]["OPTIONS"].get("options", "")
    DATABASES["default"]["OPTIONS"]["options"] = (
        f"{options} -c statement_timeout={int(STATEMENT_SECONDS * 1000)}".strip()
    )
REDIS_URL = env.address("REDIS_URL", "redis://127.0.0.1:6379/0", ("redis", "rediss", "unix"))
CACHES = {
    "default": {
        "BACKEND": "config.cache.RedisOrLocalCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "kith:cache",
        "OPTIONS": {
            "serializer": "config.cache.JSONSerializer",
            "socket_connect_timeout": 1,
            "socket_timeout": 1,
        },
    }
}
# Redis publishes to subscribers of all its databases, so the channel's name holds the database's number.
EVENTS_CHANNEL = f"kith{redis_database(REDIS_URL)}:events"
#: `S3_BUCKET`, `S3_ENDPOINT`, `S3_REGION`, `S3_ACCESS_KEY`, `S3_SECRET_KEY` | a folder in `KITH_HOME` | a private
#:   bucket for sound and pictures, used by this Kith only; see `docs/operations/files.md`
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "private": private_storage(env, KITH_HOME / "media"),
    "staticfiles": {"BACKEND": "config.http.static_files.HashedFiles"},
}
STATIC_URL = "/static/"
STATIC_ROOT = KITH_HOME / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
MEDIA_ROOT = KITH_HOME / "media"
# For an imported log of 20 MB; each operation has its own, smaller limit.
DATA_UPLOAD_MAX_MEMORY_SIZE = 21_000_000

#: `KITH_HTTP_HEAD_SECONDS`, `KITH_HTTP_BODY_SECONDS`, `KITH_HTTP_READ_SECONDS` | `20`, `30`, `60` | how long a
#:   request's head, each part of its body, and each part of the client's reading of the response may take before the
#:   connection is closed
HTTP_HEAD_SECONDS = env.seconds("KITH_HTTP_HEAD_SECONDS", 20.0)
HTTP_BODY_SECONDS = env.seconds("KITH_HTTP_BODY_SECONDS", 30.0)
HTTP_READ_SECONDS = env.seconds("KITH_HTTP_READ_SECONDS", 60.0)
#: `KITH_LIMITS` | `true` | whether the limits down to `KITH_TURNS_AT_ONCE_EACH` apply, and those on how often each user
#:   may make requests
LIMITS = env.bool("KITH_LIMITS", True)
#: `KITH_REQUESTS_AT_ONCE` | `120` | maximum number of concurrent requests per user, or per address if nobody is
#:   signed in, including those that wait
#: `KITH_STREAMS_AT_ONCE`, `KITH_SOCKETS_AT_ONCE`, `KITH_EXPORTS_AT_ONCE` | `40`, `40`, `4` | maximum number of
#:   open event streams, sockets and exports per user
AT_ONCE = {  # per person, or per address if nobody is signed in
    "requests": env.count("KITH_REQUESTS_AT_ONCE", 120, least=1),
    "streams": env.count("KITH_STREAMS_AT_ONCE", 40, least=1),
    "sockets": env.count("KITH_SOCKETS_AT_ONCE", 40, least=1),
    "exports": env.count("KITH_EXPORTS_AT_ONCE", 4, least=1),
}
#: `KITH_CONNECTIONS_AT_ONCE`, `KITH_ARRIVALS_AT_ONCE`, `KITH_BODIES_AT_ONCE` | `1000`, `240`, `20` | maximum
#:   number of connections, of requests whose sender is not yet known, and of bodies above 64 kB, per address and
#:   process
OF_ONE_ADDRESS = {  # per address and process, before the sender is known
    # Behind proxies it does not count: all connections come from those.
    "connections": env.count("KITH_CONNECTIONS_AT_ONCE", 1000, least=1),
    "arrivals": env.count("KITH_ARRIVALS_AT_ONCE", 240, least=1),
    "bodies": env.count("KITH_BODIES_AT_ONCE", 20, least=1),  # larger than LARGE_BODY
}
LARGE_BODY = 64_000
FORM_BODY = 5_000_000  # of a form that is not sent in parts
#: `KITH_WORK_AT_ONCE`, `KITH_WORK_AT_ONCE_EACH` | two thirds and a quarter of `DATABASE_POOL` | maximum number of
#:   requests processed at once per process: in total, and per user, or per address if nobody is signed in. The
#:   others wait, and users take turns
#: `KITH_TURNS_AT_ONCE`, `KITH_TURNS_AT_ONCE_EACH` | a quarter and an eighth of `DATABASE_POOL` | the same for
#:   answers that are being begun or ended; while the model is speaking, an answer does not count
AT_WORK = {  # per process: in all, and of one person; the others wait their turn
    "visits": (
        env.count("KITH_WORK_AT_ONCE", max(2, POOL["max_size"] * 2 // 3), least=1),
        env.count("KITH_WORK_AT_ONCE_EACH", max(2, POOL["max_size"] // 4), least=1),
    ),
    "turns": (
        env.count("KITH_TURNS_AT_ONCE", max(2, POOL["max_size"] // 4), least=1),
        env.count("KITH_TURNS_AT_ONCE_EACH", max(1, POOL["max_size"] // 8), least=1),
    ),
}
RATES = {  # per person: how often in how many seconds
    "recalls": [(240, 60), (20_000, 86_400)],
    "look_ups": [(120, 60)],
    "news": [(60, 60)],
    "documents": [(5, 60)],
    "comparisons": [(6, 3600)],
    "trials": [(10, 60), (120, 3600)],
    "counts": [(240, 60)],
    "imports": [(20, 3600)],
    "pasts": [(30, 60), (300, 3600)],
    "uploads": [(120, 60)],
    "timers": [(120, 60), (5_000, 86_400)],
    "lore": [(120, 60)],
    "publications": [(20, 3600), (60, 86_400)],
    "reports": [(20, 3600)],
    "companions": [(60, 3600)],
    "own_models": [(10, 60), (200, 3600)],
    "memories": [(300, 60), (20_000, 86_400)],
    "revisions": [(60, 60), (2_000, 86_400)],
}
NEWS_CHARACTERS = 40_000  # of all observations in one request for news

# -- people -----------------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
SILENCED_SYSTEM_CHECKS = [
    "auth.W004",  # e-mail is unique regardless of case, by user_email_unique
    "security.W005",  # HSTS for subdomains: Kith does not decide for the domain's other hosts
    "security.W008",  # the proxy in front of a public Kith redirects to https
    "security.W021",  # HSTS preload: nor for browsers' lists, from which no domain is removed quickly
]
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
#: `KITH_SIGNUP` | `open`; `closed` in production | who can sign up: `open` (everybody), `invite` (with an
#:   invitation) or `closed` (nobody)
KITH_SIGNUP = env.one_of("KITH_SIGNUP", "closed" if IS_PRODUCTION else "open", ("open", "invite", "closed"))
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "companions"
ACCOUNT_LOGOUT_REDIRECT_URL = "welcome"
ACCOUNT_ADAPTER = "accounts.signup.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_UNIQUE_EMAIL = True
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_MAX_EMAIL_ADDRESSES = 5
ACCOUNT_REAUTHENTICATION_REQUIRED = True  # so that a stranger at an open browser cannot add an address
ACCOUNT_FORMS = {
    "add_email": "accounts.pages.forms.AddEmailForm",
    "login": "accounts.pages.forms.LoginForm",
    "reset_password": "accounts.pages.forms.ResetPasswordForm",
    "signup": "accounts.pages.forms.SignupForm",
    "change_password": "accounts.pages.forms.ChangePasswordForm",
    "reset_password_from_key": "accounts.pages.forms.ResetPasswordKeyForm",
}
ACCOUNT_RATE_LIMITS = {
    "signup": "10/m/ip,60/h/ip",  # per visitor, against trying out addresses
    "confirm_email": "1/3m/key,5/h/key",  # per address, so that nobody fills a stranger's mailbox
    "withdraw_signup": "3/h/key",  # how often this ends the limit above
    "reset_password": "20/m/ip,60/h/ip,5/h/key",  # per visitor and address, for the same reason
}
ACCOUNT_SESSION_REMEMBER = True
MFA_ADAPTER = "accounts.mfa.MFAAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = f"Kith ({HOST})"
# Steps of half a minute by which a phone's clock may be off; accounts.mfa accepts each code once.
MFA_TOTP_TOLERANCE = 1
MFA_ALLOW_UNVERIFIED_EMAIL = True  # if mail is sent, nobody signs in before verification anyway
MFA_FORMS = {
    "authenticate": "accounts.mfa.AuthenticateForm",
    "reauthenticate": "accounts.mfa.ReauthenticateForm",
    "authenticate_webauthn": "accounts.mfa.AuthenticatePasskeyForm",
    "login_webauthn": "accounts.mfa.LoginPasskeyForm",
    "reauthenticate_webauthn": "accounts.mfa.ReauthenticatePasskeyForm",
    "add_webauthn": "accounts.mfa.AddPasskeyForm",
    "edit_webauthn": "accounts.mfa.EditPasskeyForm",
}
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
#: `KITH_PROXIES` | `1` in production, else `0` | number of proxies in front of Kith that add to `X-Forwarded-For`
ALLAUTH_TRUSTED_PROXY_COUNT = env.count("KITH_PROXIES", 1 if IS_PRODUCTION else 0)

#: `EMAIL_URL`, `DEFAULT_FROM_EMAIL` | files in `KITH_HOME/mail` | the server that sends mail, and the sender; if
#:   set, sign-up requires e-mail verification, and changes to how a person signs in, and new API tokens, are told by
#:   e-mail
EMAIL_URL = env.str("EMAIL_URL", "")
if EMAIL_URL:
    vars().update(mail_server(env))
else:
    EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    EMAIL_FILE_PATH = KITH_HOME / "mail"
EMAIL_TIMEOUT = 10  # seconds; a page waits for its mail to be sent
DEFAULT_FROM_EMAIL = env.mailbox("DEFAULT_FROM_EMAIL", f"Kith <kith@{HOST}>")
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if EMAIL_URL else "none"
ACCOUNT_EMAIL_NOTIFICATIONS = bool(EMAIL_URL)  # of changes to how a person signs in, and of new tokens
#: `KITH_MESSAGES_PER_MINUTE`, `KITH_TOKENS_PER_DAY` | `30`, `1000000` | limits per user; the admin can set others
#:   for a single user
MESSAGES_PER_MINUTE = env.count("KITH_MESSAGES_PER_MINUTE", 30)
TOKENS_PER_DAY = env.count("KITH_TOKENS_PER_DAY", 1_000_000)
TOKENS_EACH = 50  # live API tokens of one person
COMPANIONS_EACH = 200
#: `KITH_HELP_LINES` | lines in several countries | the help lines that Kith names when somebody writes that they may hurt
#:   themselves, such as those of your country
HELP_LINES = env.str("KITH_HELP_LINES", "")
#: `KITH_CONTACT` | none | who runs this Kith and how to reach them, such as a name with an e-mail address, or the
#:   address of a page with that and a privacy notice; every page shows it, also to those who cannot sign in
CONTACT = env.str("KITH_CONTACT", "")
#: `KITH_GALLERY` | `true` | whether there is a gallery, in which users publish characters after an operator has
#:   approved them
GALLERY = env.bool("KITH_GALLERY", True)
#: `KITH_AGES` | `any` | the minimum age of everybody with an account: `any`, `16` or `adult`. The gallery hides
#:   what is rated for older people. The admin can set another for a single user
AGES = env.one_of("KITH_AGES", "any", ("any", "16", "adult"))
GALLERY_CHARACTERS_EACH = 50  # published by one person
#: `KITH_OWN_PROVIDERS` | `0` | how many chat models of their own, with their own keys, each user may add to answer
#:   their companions; `0` for none
OWN_PROVIDERS_EACH = env.count("KITH_OWN_PROVIDERS", 0)
#: `KITH_OWN_ANSWER_SECONDS` | `120` | how long a user's own model may take for an answer to background work, which
#:   occupies a thread of the worker
OWN_ANSWER_SECONDS = env.seconds("KITH_OWN_ANSWER_SECONDS", 120.0)
#: `KITH_OWN_PROVIDERS_ALLOWED` | none | comma-separated `host:port` entries that are not on the public Internet but
#:   that users may enter as their model's address. Everybody with an account can reach what listens there
OWN_PROVIDERS_ALLOWED = env.host_ports("KITH_OWN_PROVIDERS_ALLOWED")
#: `KITH_CHARACTERS_MB` | `50` | storage for each user's lorebooks and imported cards
CHARACTER_BYTES_EACH = env.count("KITH_CHARACTERS_MB", 50) * 1_000_000
#: `KITH_CARD_MB` | `200` | maximum size of an uploaded CHARX, of whose pictures and sounds 40 MB are kept; other
#:   cards may have 50 MB
CARD_BYTES = env.count("KITH_CARD_MB", 200) * 1_000_000
#: `KITH_FILES_MB` | `500` | storage for each user's sound and pictures
FILES_BYTES_EACH = env.count("KITH_FILES_MB", 500) * 1_000_000
#: `KITH_RISUAI_MAP` | none | path of RisuAI's own table (its file `rpack_map.bin`), with which the `module.risum`
#:   in its CHARX files is read; without it, only the card is read
RISUAI_TABLE = risuai_table(env.str("KITH_RISUAI_MAP", ""))
#: `KITH_COMPANIONS_MB` | `1000` | storage in the database for all companions of each user, above which no more
#:   chats, logs and archives can be imported; conversation is not limited. A MB of chat takes about 3 MB, and on
#:   disk, with vectors and indexes, about 10 MB
COMPANION_BYTES_EACH = env.count("KITH_COMPANIONS_MB", 1_000) * 1_000_000
#: `KITH_ARCHIVE_MB` | `700` | maximum size of an uploaded archive of a companion
ARCHIVE_BYTES = env.count("KITH_ARCHIVE_MB", 700) * 1_000_000
MESSAGES_EACH = 300_000  # of one companion; an import may not exceed it
REPLIES_WAITING = 50  # of one companion

# -- models -----------------------------------------------------------------------------------------

#: `LLM_FILE` | none | a chat model's GGUF file, which `make up` runs with Kith's own engine instead of using a
#:   server
#: `LLM_BASE_URL`, `LLM_API_KEY`, `LLM_MODEL` | the admin's providers, else Ollama or the rehearsal model | any
#:   OpenAI-compatible chat server. If an address is set here, the admin's providers are not used
CHAT = {
    "base_url": env.address("LLM_BASE_URL"),
    "api_key": env.str("LLM_API_KEY", ""),
    "model": env.str("LLM_MODEL", ""),
    "is_rehearsal": env.bool("KITH_REHEARSAL", False),
}
ENGINE_KEY = env.str("KITH_ENGINE_KEY", "")  # set for each run by `make up`, which alone runs engines
CHAT_IS_FOUND = env.bool("KITH_CHAT_FOUND", False)  # set by `make up`: the admin's providers take precedence
#: `LLM_CONNECT_SECONDS`, `LLM_FIRST_PIECE_SECONDS`, `LLM_SILENCE_SECONDS`, `LLM_RETRIES` | `5`, `120`, `60`, `2` |
#:   timeouts for connecting to the model, for the first piece of an answer (a fourth of it for a provider that failed
#:   last, if another may answer), and for silence within it; number of retries
CHAT_TIMEOUTS = {
    "connect_seconds": env.seconds("LLM_CONNECT_SECONDS", 5.0),
    "first_piece_seconds": env.seconds("LLM_FIRST_PIECE_SECONDS", 120.0),
    "silence_seconds": env.seconds("LLM_SILENCE_SECONDS", 60.0),
}
CHAT_RETRIES = env.count("LLM_RETRIES", 2)
#: `LLM_CONTEXT_TOKENS`, `LLM_ANSWER_TOKENS` | `8192`, an eighth but at most `1024` | the model's context size,
#:   and how much of it is reserved for the answer; in proportion less where a provider's context is smaller
CONTEXT_TOKENS = env.count("LLM_CONTEXT_TOKENS", 8192, least=1024)  # as in the admin
ANSWER_TOKENS = env.count("LLM_ANSWER_TOKENS", min(1024, CONTEXT_TOKENS // 8), least=1, most=CONTEXT_TOKENS)
#: `LLM_TEMPERATURE`, `LLM_TOP_P`, `LLM_PRESENCE_PENALTY`, `LLM_FREQUENCY_PENALTY` | `0.8`, none, `0`, `0.2` |
#:   sampling parameters for conversations. An empty value leaves the choice to the server; a penalty of 0 is not
#:   sent
#: `LLM_DRY_MULTIPLIER` | `0.8` with `LLM_FILE`, else none | how strongly the model is kept from repeating itself,
#:   for servers that support this (DRY), such as llama.cpp, KoboldCpp and TabbyAPI
SAMPLING = {
    "temperature": env.sampling("LLM_TEMPERATURE", 0.8, 0, 2),
    "top_p": env.sampling("LLM_TOP_P", None, 0, 1),
    "presence_penalty": env.sampling("LLM_PRESENCE_PENALTY", 0.0, -2, 2),
    "frequency_penalty": env.sampling("LLM_FREQUENCY_PENALTY", 0.2, -2, 2),
    "dry_multiplier": env.sampling("LLM_DRY_MULTIPLIER", None, 0, 5),
}
#: `LLM_SLOTS`, `LLM_QUIET_SECONDS` | `1` for a server at a local address, else `0`; `15` | how many requests the
#:   chat server answers at once (`0`: no request waits); and how many seconds a slot must have been unused by
#:   conversations before background work, such as learning, takes it
LLM_SLOTS = env.count("LLM_SLOTS", None)
LLM_QUIET_SECONDS = env.seconds("LLM_QUIET_SECONDS", 15.0, may_be_zero=True)
#: `KITH_DOWNLOAD_MB` | `40000` | maximum size of a model file that Kith downloads
DOWNLOAD_BYTES = env.count("KITH_DOWNLOAD_MB", 40_000) * 1_000_000


#: `EMBEDDING_FILE` | none | an embedding model's GGUF file, which `make up` runs with Kith's own engine instead of
#:   using a server
#: `EMBEDDING_BASE_URL`, `EMBEDDING_API_KEY`, `EMBEDDING_MODEL` | built in | any OpenAI-compatible embedding server
#: `EMBEDDING_QUERY_PREFIX`, `EMBEDDING_DOCUMENT_PREFIX` | none | the prefixes that the model expects before a
#:   question, and before a text to remember
#: `EMBEDDING_QUERY_FIELDS`, `EMBEDDING_DOCUMENT_FIELDS` | none | JSON objects with additional fields for the
#:   requests
#: `EMBEDDING_MAX_TOKENS` | `480` | how many tokens the embedding model reads at once, including the prefix; longer
#:   texts are embedded in windows
def embedding(name: str, base_url: str = "", api_key: str = "") -> dict[str, str | int]:
    """Return an embedder's configuration from the variables that begin with `name`, with JSON as text."""
    for fields in ("QUERY_FIELDS", "DOCUMENT_FIELDS"):
        env.json_object(f"{name}_{fields}")
    return {
        "base_url": env.address(f"{name}_BASE_URL", base_url),
        "api_key": env.str(f"{name}_API_KEY", api_key),
        "model": env.str(f"{name}_MODEL", ""),
        "query_prefix": env.str(f"{name}_QUERY_PREFIX", ""),
        "document_prefix": env.str(f"{name}_DOCUMENT_PREFIX", ""),
        "query_fields": env.str(f"{name}_QUERY_FIELDS", ""),
        "document_fields": env.str(f"{name}_DOCUMENT_FIELDS", ""),
        "max_tokens": env.count(f"{name}_MAX_TOKENS", 480, least=1),
    }


EMBEDDING = embedding("EMBEDDING")
env.names |= {name.replace("_", "_PREVIOUS_", 1) for name in env.names if name.startswith("EMBEDDING_")}
env.names |= {"LLM_FILE", "EMBEDDING_FILE"}  # which `make up` reads
#: `EMBEDDING_PREVIOUS_MODEL` and `EMBEDDING_PREVIOUS_…` as above | none | the previous remote embedding model, used
#:   until everything has been embedded again. Its address defaults to the current one's, and so does its key if no
#:   address is set
EMBEDDING_PREVIOUS: dict[str, str | int] = {}
if env.str("EMBEDDING_PREVIOUS_MODEL", ""):
    is_elsewhere = env.str("EMBEDDING_PREVIOUS_BASE_URL", "")  # another server is not sent this one's key
    EMBEDDING_PREVIOUS = embedding(
        "EMBEDDING_PREVIOUS",
        str(EMBEDDING["base_url"]),
        "" if is_elsewhere else str(EMBEDDING["api_key"]),
    )

# -- sound ------------------------------------------------------------------------------------------


#: `SPEECH_ENGINE` | chosen automatically | `openai`, `f5`, `fish`, `gpt-sovits`, `espeak` or `browser`. If empty:
#:   `openai` if `SPEECH_BASE_URL` is set, else espeak-ng if it is installed, else the browser speaks
#: `SPEECH_BASE_URL`, `SPEECH_API_KEY`, `SPEECH_MODEL` | none | address, key and model of the speech engine
#: `SPEECH_VOICE`, `SPEECH_VOICES` | the engine's default | the default voice; the voices to choose from, separated
#:   by commas
#: `SPEECH_REFERENCES` | none | voices of F5-TTS and GPT-SoVITS, as a JSON object: name → `{"path": …, "text": the
#:   words spoken in it, "language": …}`. The path is on this machine for F5-TTS, and on the engine's for GPT-SoVITS
#: `SPEECH_FORMAT` | `mp3` | format requested from an OpenAI-compatible server: `mp3`, `wav`, `opus`, `aac` or
#:   `flac`
#: `SPEECH_AT_ONCE`, `SPEECH_CONNECT_SECONDS`, `SPEECH_SECONDS` | `2`, `5`, `60` | number of sentences synthesised
#:   at once per user; timeouts for connecting to the engine and for its answer
SPEECH_ENGINES = ("openai", "f5", "fish", "gpt-sovits", "espeak", "browser")
SPEECH = {
    "engine": env.one_of("SPEECH_ENGINE", "", SPEECH_ENGINES),
    "base_url": env.address("SPEECH_BASE_URL"),
    "api_key": env.str("SPEECH_API_KEY", ""),
    "model": env.str("SPEECH_MODEL", ""),
    "voice": env.str("SPEECH_VOICE", ""),
    "voices": env.list("SPEECH_VOICES", default=[]),
    "references": env.json_object("SPEECH_REFERENCES"),
    "format": env.one_of("SPEECH_FORMAT", "mp3", ("mp3", "wav", "opus", "aac", "flac")),
    "at_once": env.count("SPEECH_AT_ONCE", 2, least=1),
    "connect_seconds": env.seconds("SPEECH_CONNECT_SECONDS", 5.0),
    "seconds": env.seconds("SPEECH_SECONDS", 60.0),
}
#: `TRANSCRIPTION_BASE_URL`, `TRANSCRIPTION_API_KEY`, `TRANSCRIPTION_MODEL` | none: the browser transcribes | any
#:   OpenAI-compatible transcription server
#: `TRANSCRIPTION_CONNECT_SECONDS`, `TRANSCRIPTION_SECONDS` | `5`, `60` | timeouts for connecting to it and for its
#:   answer
TRANSCRIPTION = {
    "base_url": env.address("TRANSCRIPTION_BASE_URL"),
    "api_key": env.str("TRANSCRIPTION_API_KEY", ""),
    "model": env.str("TRANSCRIPTION_MODEL", ""),
    "connect_seconds": env.seconds("TRANSCRIPTION_CONNECT_SECONDS", 5.0),
    "seconds": env.seconds("TRANSCRIPTION_SECONDS", 60.0),
}
#: `KITH_SPEECH_CHARACTERS_PER_DAY`, `KITH_HEARING_SECONDS_PER_DAY` | `200000`, `14400` | how many characters each
#:   user may have spoken, and how many seconds transcribed, per day
SPEECH_CHARACTERS_PER_DAY = env.count("KITH_SPEECH_CHARACTERS_PER_DAY", 200_000)
HEARING_SECONDS_PER_DAY = env.count("KITH_HEARING_SECONDS_PER_DAY", 14_400)
#: `KITH_SPEECH_DAYS` | `30` | how many days synthesised speech is kept, so that it can be played again without the
#:   engine
SPEECH_DAYS = env.count("KITH_SPEECH_DAYS", 30, most=36_500)
AUDIO_SECONDS = 300  # of one recording
AUDIO_BYTES = 20_000_000
REFERENCE_SECONDS = 60  # of a sample of a voice to imitate

# -- turns ------------------------------------------------------------------------------------------

#: `KITH_LEASE_RENEWED_SECONDS`, `KITH_LEASE_LOST_SECONDS` | `5`, `20` | how often a process renews its hold on
#:   replies, and after how long without renewal another process takes them over
LEASE_RENEWED_SECONDS = env.seconds("KITH_LEASE_RENEWED_SECONDS", 5.0)
LEASE_LOST_SECONDS = env.seconds("KITH_LEASE_LOST_SECONDS", 20.0)
if LEASE_LOST_SECONDS <= LEASE_RENEWED_SECONDS:
    raise ImproperlyConfigured(
        f"KITH_LEASE_LOST_SECONDS is {LEASE_LOST_SECONDS:g}; it must be longer than KITH_LEASE_RENEWED_SECONDS,"
        f" which is {LEASE_RENEWED_SECONDS:g}."
    )
#: `KITH_DRAIN_SECONDS` | `5` | how long a stopping process waits for its replies to end
DRAIN_SECONDS = env.seconds("KITH_DRAIN_SECONDS", 5.0, may_be_zero=True)
PIECES_KEPT = timedelta(hours=1)
PROMPTS_KEPT = timedelta(days=30)
MESSAGE_CHARACTERS = 32_000
RECALL_LIMIT = 8
#: `KITH_FLASHBACK_PROBABILITY` | `0.05` | in which share of turns, from 0 to 1, something comes to a companion's
#:   mind spontaneously
FLASHBACK_PROBABILITY = env.number("KITH_FLASHBACK_PROBABILITY", 0.05, 0, 1)
TOOL_ROUNDS = 4
TOOL_CALLS = 16  # in one round
TOOL_CHARACTERS = 20_000  # of one call's arguments
ANSWER_CHARACTERS = 100_000  # of one reply with its reasoning: a longer one will not end by itself
#: `KITH_SOCKET_IDLE_SECONDS` | `3600` | after how long without frames a socket is closed
SOCKET_IDLE_SECONDS = env.seconds("KITH_SOCKET_IDLE_SECONDS", 3600.0)
SOCKET_FRAMES_PER_10_SECONDS = 60
SOCKET_CHECKED_SECONDS = (
    30.0  # how soon a socket or a streamed answer ends if its person is signed out, deactivated or deleted
)

# -- life -------------------------------------------------------------------------------------------

LIFE_WAKING_SECONDS = 120.0  # that a companion has to decide what to do
LIFE_WAKINGS_PER_DAY = 48  # of one companion
#: `KITH_OUTBOUND_ALLOWED` | none | comma-separated `host:port` entries that Kith may contact although they are not
#:   on the public Internet, such as a push service. For users' own models, see `KITH_OWN_PROVIDERS_ALLOWED`
OUTBOUND_ALLOWED = env.host_ports("KITH_OUTBOUND_ALLOWED")
#: `KITH_TICK_SECONDS` | `30` | how often Kith checks which timers are due and whom to contact
TICK_SECONDS = env.seconds("KITH_TICK_SECONDS", 30.0)
#: `KITH_BREAK_MINUTES` | `180` | after how many minutes of conversation without a pause a break is suggested; at
#:   most 180
BREAK_AFTER = break_after(env.int("KITH_BREAK_MINUTES", 180))
#: `KITH_CHECK_BY_MODEL` | on if there is a language model | whether the chat model, in addition to fixed rules,
#:   checks what a companion is about to write unprompted. It may hold a text back only for words in it that it names
CHECK_BY_MODEL: bool | None = env.bool("KITH_CHECK_BY_MODEL", None)

# -- Celery -----------------------------------------------------------------------------------------

CELERY_BROKER_URL = celery_broker(REDIS_URL)
CELERY_BROKER_TRANSPORT = "config.broker:Transport"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
# A task that cannot be sent at once is dropped: a periodic sweep finds its row, and nobody waits for the broker.
CELERY_TASK_PUBLISH_RETRY = False
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 3600,
    "socket_connect_timeout": 1,
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.1,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker without Redis would end after 50 minutes
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_DEFAULT_QUEUE = "bulk"
CELERY_TASK_ROUTES = {
    "memory.tasks.embed*": {"queue": "embed"},
    "companions.sessions.tasks.*": {"queue": "learn"},
    "companions.life.tasks.*": {"queue": "life"},
    "companions.tasks.work_a_night": {"queue": "learn"},
    "companions.tasks.compare_models": {"queue": "learn"},
}
CELERY_BEAT_SCHEDULER = "config.celery:Scheduler"
CELERY_BEAT_SCHEDULE_FILENAME = str(KITH_HOME / "beat-schedule")


def every(seconds: float, task: str, expires: float | None = None) -> dict[str, Any]:
    """Return a task's entry in beat's schedule; a run expires when the next is due, or after `expires` seconds."""
    return {"task": task, "schedule": seconds, "options": {"expires": expires or seconds}}


CELERY_BEAT_SCHEDULE = {
    "embed what has no embedding": every(60, "memory.tasks.embed_waiting"),
    "close silent sessions": every(60, "companions.sessions.tasks.close_waiting"),
    "learn from long sessions": every(60, "companions.sessions.tasks.digest_waiting"),
    "let companions reflect": every(60, "companions.life.tasks.reflect_waiting"),
    "write stale diary entries anew": every(60, "companions.sessions.tasks.rewrite_stale_diary"),
    "write gists of waiting pages": every(60, "companions.tasks.write_waiting_gists"),
    "go on comparing models": every(60, "companions.tasks.go_on_comparing"),
    "go on with pasts": every(60, "companions.tasks.go_on_with_pasts"),
    "go on restoring archives": every(60, "companions.tasks.restore_waiting"),
    "go on with nights": every(30, "companions.tasks.go_on_with_nights"),
    "begin the nights that have come": every(300, "companions.tasks.begin_nights"),
    "tick": every(TICK_SECONDS, "companions.life.tasks.tick", expires=30),
    "reach whoever has not read": every(TICK_SECONDS, "companions.life.tasks.send_deliveries", expires=30),
    "go on with downloads": every(TICK_SECONDS, "providers.downloads.tasks.resume_downloads"),
    "look for drives": every(600, "companions.life.tasks.seek"),
    "bring back what a clock put off": every(3600, "companions.life.tasks.restore_times"),
    "set missing timers": every(3600, "companions.life.tasks.set_missing_timers"),
    "sweep what is stored": every(3600, "files.tasks.sweep_contents"),
    "drop old keys": every(3600, "accounts.tasks.drop_old_keys"),
    "drop old prompts": every(3600, "companions.tasks.drop_old_prompts"),
    "drop old sessions": every(3600, "accounts.tasks.drop_old_sessions"),
    "drop recordings that were not sent": every(3600, "voice.tasks.sweep_recordings"),
    "sweep what is unused": every(3600, "companions.tasks.sweep_unused"),
    "sweep speech": every(3600, "voice.tasks.sweep_speech"),
    "say that beat lives": every(10, "config.celery.pulse"),
}

# -- languages --------------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]  # each in its own language
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = ["config.formats"]
TIME_ZONE = "UTC"
USE_TZ = True

# -- what a page may load -----------------------------------------------------------------------------

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "worker-src": [SELF],
        "manifest-src": [SELF],
    }
}

from config.logs import LOGGING, configure_structlog  # noqa: E402, F401

configure_structlog()
LOGGING_CONFIG = "logging.config.dictConfig"
DEFAULT_EXCEPTION_REPORTER_FILTER = "config.http.errors.ReportFilter"
UNFOLD = {
    "SITE_TITLE": "Kith",
    "SITE_HEADER": "Kith",
    "SITE_SYMBOL": "local_fire_department",
    "SITE_ICON": {"light": "config.admin.sidebar.logo", "dark": "config.admin.sidebar.logo"},
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": "config.admin.sidebar.logo"}],
    "STYLES": ["config.admin.sidebar.style"],
    "SCRIPTS": ["config.admin.sidebar.script"],
    "SHOW_VIEW_ON_SITE": False,
    "DASHBOARD_CALLBACK": "config.admin.dashboard.dashboard",
    "SIDEBAR": {"navigation": "config.admin.sidebar.navigation"},
    "COLORS": {
        "primary": {
            "50": "oklch(97.5% .014 50)",
            "100": "oklch(94.5% .03 48)",
            "200": "oklch(89% .06 46)",
            "300": "oklch(82% .095 48)",
            "400": "oklch(74% .12 50)",
            "500": "oklch(66% .135 45)",
            "600": "oklch(58% .14 40)",
            "700": "oklch(50% .125 39)",
            "800": "oklch(43% .105 38)",
            "900": "oklch(36% .085 38)",
            "950": "oklch(27% .06 38)",
        }
    },
}
UNKNOWN_SETTINGS = env.find_unknown()
