"""`python -m config.up.with_services COMMAND ...`: runs a command with a fresh Postgres and Redis, gone after it."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from config.up.embedded import Embedded


def run_with_services(command: list[str]) -> int:
    """The command's own exit status; it finds both services under DATABASE_URL and REDIS_URL."""
    with (
        tempfile.TemporaryDirectory(prefix="kith-") as folder,
        Embedded(Path(folder), durable=False) as services,
    ):
        addresses = {
            "DATABASE_URL": services.database_url,
            "REDIS_URL": services.redis_url,
            "KITH_HOME": folder,
        }
        return subprocess.run(command, env=os.environ | addresses, check=False).returncode


if __name__ == "__main__":
    sys.exit(run_with_services(sys.argv[1:]))
