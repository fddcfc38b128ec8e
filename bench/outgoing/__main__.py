"""`python -m bench.outgoing fit` writes the classifier that the product ships; `measure` tells how good the check is."""

import argparse
import os
import sys


def main() -> None:
    """Do what is asked."""
    asked = argparse.ArgumentParser(prog="python -m bench.outgoing", description=__doc__)
    asked.add_argument("deed", choices=["fit", "validate", "measure"])
    deed = asked.parse_args().deed
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from bench.outgoing import report

    sys.exit(getattr(report, deed)())


if __name__ == "__main__":
    main()
