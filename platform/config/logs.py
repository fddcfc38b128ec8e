"""Structured logs: one JSON line an event, with request and reply ids, never with what was said.

Whatever is raised may quote what a person said: a database its row, a provider the prompt, a check its input. So an
error is logged by its class and stack, and by its words only where they tell of connections and files.
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
    """Return what was raised and where, with what it came from, in the order in which it happened."""
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
    """Takes an error's words out of the line of a library that repeats them there: Celery and asyncio do."""

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

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"wordless": {"()": Wordless}},
    "formatters": {
        "json": {
            "()": structlog.stdlib.ProcessorFormatter,
            "processor": structlog.processors.JSONRenderer(ensure_ascii=False),
            "foreign_pre_chain": SHARED,
        }
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "json", "filters": ["wordless"]}},
    "root": {"handlers": ["console"], "level": "INFO"},
    "loggers": {
        "httpx": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "psycopg.pool": {"level": "WARNING"},  # three lines for each visit to the database
        # These name the address, in which a key may stand; config.middleware has the same event with the route.
        "django.request": {"level": "CRITICAL"},
        "django.security.csrf": {"level": "CRITICAL"},
        # Uvicorn and Django bring handlers of their own, which write an error's words.
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        "uvicorn": {"handlers": [], "level": "INFO", "propagate": True},
        "uvicorn.error": {"handlers": [], "level": "INFO", "propagate": True},
        "uvicorn.access": {"handlers": [], "level": "WARNING", "propagate": True},
        "celery.app.trace": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
    },
}


def configure_structlog() -> None:
    """Send structlog's events through the standard logging set-up above."""
    structlog.configure(
        processors=[*SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
