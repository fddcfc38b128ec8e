"""The codes and sentences of what a storage may fail with."""

from django.utils.translation import gettext_lazy as _

AWAY = "storage_away", _("Kith's storage does not answer right now. Try again in a moment.")
LOST = "content_lost", _("What is stored here is missing or damaged. It cannot be given back.")
