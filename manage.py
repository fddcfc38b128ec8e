#!/usr/bin/env python
"""Run Django's management commands."""

import logging
import os
import sys
from pathlib import Path


def main() -> None:
    """Run the command that the arguments name; end with status 1 and one line if settings or database forbid it."""
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    # One line is enough, see below. Django's configuration would reset a level, but it keeps filters.
    logging.getLogger("psycopg.pool").addFilter(lambda record: record.levelno >= logging.ERROR)
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    except OperationalError as error:
        if "--traceback" in sys.argv:
            raise
        reason = next(iter(str(error).splitlines()), "it does not say why")
        sys.exit(
            f"The database failed: {reason}. Is it running? `make up` starts Kith's own; DATABASE_URL names another."
        )


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent / "platform"))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    main()
