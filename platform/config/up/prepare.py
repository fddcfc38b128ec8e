"""`python -m config.up.prepare`: what Django has to do before Kith is served.

It creates the embedded Postgres's database, migrates it, unless a later version of Kith has done so already, deletes
again what a restored backup has brought back, collects changed static files, prepares the built-in embedder, and on the
first run (nobody is staff) creates an operator's account, whose password is shown this once. It says so if encrypted
values cannot be decrypted, and requests engines for the model files that are in force. If no model is chosen yet, it
prints the address of the page to choose one on.
"""

import argparse
import gc
import hashlib
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import OperationalError, connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.models import QuerySet
from django.utils import timezone

from config.http import static_files
from config.up.database import create_database
from config.up.home import DISK_IS_FULL, cannot_write, load_secrets
from config.up.processes import die_with_parent
from config.up.stores import embedded_postgres, first_line, require_database
from config.up.terminal import UpError, say
from database.encryption import DecryptionError, decrypt
from providers.embedding.minilm import MiniLM
from providers.errors import ProviderRefused

OPERATOR = "operator@kith.local"


def refuse_newer_tables() -> None:
    """End the process if a later version of Kith has changed the tables: this one would fail on them here and there."""
    loader = MigrationLoader(connection)
    latest: dict[str, str] = {}
    for app, name in loader.disk_migrations:
        latest[app] = max(name, latest.get(app, ""))
    newer = [
        f"{app}.{name}" for app, name in loader.applied_migrations if app in latest and name > latest[app]
    ]
    if newer:
        sys.exit(
            f"the database was in use by a later version of Kith ({newer[-1]}). Start that version again, or restore"
            " a backup from before the update"
        )


@contextmanager
def collect_static() -> Iterator[None]:
    """Collect the static files meanwhile, in another process, unless they are unchanged since the last time.

    A process of its own, because migrations take seconds of one core on the first start.
    """
    root = Path(settings.STATIC_ROOT)
    code = Path(static_files.__file__)  # which names the files
    sources = [settings.BASE_DIR / "requirements.txt", code, *map(Path, settings.STATICFILES_DIRS)]
    paths = sorted(path for source in sources for path in (source, *source.rglob("*")) if path.is_file())
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path}\0".encode() + path.read_bytes())
    stamp, now = root / ".stamp", digest.hexdigest()
    if stamp.exists() and stamp.read_text() == now:
        yield
        return
    say("Collecting static files ...")
    command = [sys.executable, "manage.py", "collectstatic", "--no-input", "--verbosity=0"]
    with subprocess.Popen(
        command, cwd=settings.BASE_DIR, preexec_fn=die_with_parent(signal.SIGKILL)
    ) as process:
        yield
        if process.wait():
            sys.exit("the static files could not be collected")
    stamp.write_text(now)


def prepare_embedder() -> None:
    """Write the built-in embedder's graph if it is missing, and measure its everyday sentences.

    This is done here because the memory that it takes is freed with this process: sentences in fifteen languages need
    the weights of nearly all words, 30 MB.
    """
    if settings.EMBEDDING["base_url"]:
        return
    from memory.embedding.backlog import measure_everyday  # which loads models
    from memory.embedding.spaces import get_or_create_wanted_space
    from providers.embedding.selection import get_embedder

    embedder = get_embedder()
    if isinstance(embedder, MiniLM):
        try:
            embedder.write_graph()
            get_or_create_wanted_space()
            measure_everyday()
        except OSError as error:
            why = cannot_write(settings.KITH_HOME, error) if error.errno in DISK_IS_FULL else error
            say(f"The built-in embedder cannot be used: {why}")
        except ProviderRefused as error:
            say(f"The built-in embedder cannot be used: {error}")


def make_operator() -> None:
    """Create the first operator's account and print its password, if nobody is staff."""
    if get_user_model().objects.filter(is_staff=True).exists():
        return
    printed = StringIO()
    with transaction.atomic():  # if this process is killed, no account is left whose password was never shown
        call_command("create_account", OPERATOR, staff=True, superuser=True, stdout=printed)
        password = printed.getvalue().strip()
        # Not by `say`, which goes on if the terminal is closed.
        print(
            f"An operator account was created. Its password is shown only this once:\n  {OPERATOR}\n  {password}",
            flush=True,
        )


def repeat_deletions() -> None:
    """Delete again what people had deleted before an older backup was restored, and say how much that was."""
    from companions.deletion.repetition import delete_again  # which loads models

    counts = +delete_again(timezone.now())
    if counts:
        listed = ", ".join(f"{kind} {count}" for kind, count in counts.items())
        say(f"This database is older than what was deleted since, which has been deleted again: {listed}.")


def warn_of_lost_key() -> None:
    """Say so if KITH_ENCRYPTION_KEY does not open what was last encrypted, e.g. after a restore without `secrets`."""
    from allauth.mfa.models import Authenticator  # which load models

    from integrations.push.models import Subscription
    from providers.models import Provider
    from safety.models import AuditKey

    encrypted: dict[str, QuerySet[Any, Any]] = {
        "models' keys": Provider.objects.exclude(sealed_key=b"").values_list("sealed_key", flat=True),
        "second steps of signing in": Authenticator.objects.filter(type="totp").values_list(
            "data__secret", flat=True
        ),
        "addresses of notifications": Subscription.objects.values_list("sealed", flat=True),
        "operators' searches": AuditKey.objects.values_list("sealed", flat=True),
    }
    lost = []
    for what, values in encrypted.items():
        for value in values.order_by("-pk")[:1]:
            try:
                decrypt(value.encode() if isinstance(value, str) else value)
            except DecryptionError:
                lost.append(what)
    if lost:
        say(
            f"KITH_ENCRYPTION_KEY does not open what this database has encrypted: {', '.join(lost)}. Put the file"
            " `secrets` (or the key) that belongs to the database in its place, or enter these again."
        )


def start_engines() -> None:
    """Write down for `make up` which engines the providers in the database want."""
    from providers.engine.rows import want_engines  # which loads models
    from providers.selection import is_set_by_environment

    want_engines(are_waiting=is_set_by_environment())


def suggest_models() -> None:
    """Print the address of the page to choose a model on, as long as none is chosen."""
    from providers.selection import get_provider  # which loads models

    if get_provider().is_rehearsal:
        say(f"Which model? Operators can choose one at {settings.KITH_URL}/admin/mind/")


def prepare() -> None:
    """Run the steps in their order."""
    gc.freeze()  # spares the collector what is imported: migrations create and drop thousands of models
    refuse_newer_tables()
    with collect_static():
        say("Bringing the tables up to date ...")
        call_command("migrate", interactive=False, verbosity=0)
        repeat_deletions()
        prepare_embedder()
    make_operator()
    warn_of_lost_key()
    start_engines()
    suggest_models()


def main(arguments: list[str]) -> None:
    """Prepare Kith. A setting that cannot be used ends the process with the sentence about it."""
    parser = argparse.ArgumentParser(prog="config.up.prepare")
    parser.add_argument("--postgres-port", type=int, help="where the embedded Postgres is, if it is used")
    port: int | None = parser.parse_args(arguments).postgres_port
    try:
        django.setup()
        if port is not None:
            home = Path(os.environ["KITH_HOME"])
            create_database(embedded_postgres(home, port, load_secrets(home)))
        elif address := os.environ.get("DATABASE_URL"):
            require_database(address)
        prepare()
    except (ImproperlyConfigured, UpError) as error:
        sys.exit(str(error))
    except OperationalError as error:  # for example because the disk is full, which a hint follows
        traceback.print_exc()
        sys.exit(f"the database failed: {first_line(error)}")


if __name__ == "__main__":
    main(sys.argv[1:])
