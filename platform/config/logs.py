"""Structured logs: one line of JSON per event, with request and reply ids, but never with a person's words.

Any exception may quote these: a database error its row, a provider's the prompt, a validation error its input. So an
error is logged by its class and stack, and its message only for the classes of SPEAKING (connections, files, set-up).
"""

import logging
import traceback
from types import TracebackType
from typing import Any

import structlog
from django.core.exceptions import ImproperlyConfigured
from django.db import InterfaceError, OperationalError
from redis.exceptions import RedisError

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]
SPEAKING = (OSError, ImportError, RedisError, OperationalError, InterfaceError, ImproperlyConfigured)
MAX_FRAMES = 40


def stack(exc_info: ExcInfo) -> str:
    """Return the tracebacks of the exception and of its causes, the first cause first, without unsafe messages."""
    error: BaseException | None = exc_info[1]
    parts: list[str] = []
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        frames = "".join(traceback.format_tb(error.__traceback__, limit=-MAX_FRAMES))
        words = str(error).strip().partition("\n")[0] if isinstance(error, SPEAKING) else ""
        name = f"{type(error).__module__}.{type(error).__qualname__}"
        parts.append(f"{frames}{name}: {words}" if words else f"{frames}{name}")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\nand then\n".join(reversed(parts))


class Wordless(logging.Filter):
    """Removes an exception's message from log lines in which a library repeats it, as Celery and asyncio do."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and isinstance(record.msg, str):
            if isinstance(record.args, dict) and "exc" in record.args:
                record.args = {**record.args, "exc": type(record.exc_info[1]).__name__}
            record.msg, record.args = record.getMessage().partition("\n")[0], ()
        return True


SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.ExceptionRenderer(stack),
]
# One list, however often the settings are read: loggers that are in use keep theirs.
PROCESSORS = [*SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter]

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"wordless": {"()": Wordless}},
    "formatters": {
        "json": {
            "()": structlog.stdlib.ProcessorFormatter,
            "processor": structlog.processors.JSONRenderer(),
            "foreign_pre_chain": SHARED,
        }
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "json", "filters": ["wordless"]}},
    "root": {"handlers": ["console"], "level": "INFO"},
    "loggers": {
        "httpx": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "psycopg.pool": {"level": "WARNING"},  # three lines each time that a connection is used
        # These log the path, which may hold a key; config.http.middleware logs the same event with the route.
        "django.request": {"level": "CRITICAL"},
        "django.security.csrf": {"level": "CRITICAL"},
        # Uvicorn and Django bring handlers of their own, which log an error's message.
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        "uvicorn": {"handlers": [], "level": "INFO", "propagate": True},
        "uvicorn.error": {"handlers": [], "level": "INFO", "propagate": True},
        "uvicorn.access": {"handlers": [], "level": "WARNING", "propagate": True},
        "celery.app.trace": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
    },
}


def configure_structlog() -> None:
    """Send structlog's events through the standard library's logging, as set up in LOGGING."""
    structlog.configure(
        processors=PROCESSORS,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
