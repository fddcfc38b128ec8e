"""`python -m config.up.settings_check`: find a setting that cannot be used before anything is started.

The process ends with the sentence about it. It also says which settings do not exist, since they may be misspelt.
"""

import sys

from django.core.exceptions import ImproperlyConfigured

from config.up.terminal import say


def main() -> None:
    try:
        from config import settings
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    for sentence in settings.UNKNOWN_SETTINGS:
        say(sentence)


if __name__ == "__main__":
    main()
