"""Texts of django-unfold in the admin, and of Django, that have no translations elsewhere: translated with Kith's."""

from django.utils.translation import gettext_noop, ngettext_lazy

TEXTS = (
    gettext_noop("Apply Filters"),
    gettext_noop("Choose file to upload"),
    gettext_noop("Click to download"),
    gettext_noop("Date"),
    gettext_noop("Date from"),
    gettext_noop("Date to"),
    gettext_noop("False"),
    gettext_noop("Filters"),
    gettext_noop("From"),
    gettext_noop("General"),
    gettext_noop("Go back"),
    gettext_noop("Image preview"),
    gettext_noop("Loading more results..."),
    gettext_noop("More actions"),
    gettext_noop("Next"),
    gettext_noop("No data"),
    gettext_noop("No recent searches"),
    gettext_noop("No results matching your query"),
    gettext_noop("Previous"),
    gettext_noop("Recent searches"),
    gettext_noop("Reset filters"),
    gettext_noop("Return to site"),
    gettext_noop("Run"),
    gettext_noop("Search apps and models..."),
    gettext_noop("Select action"),
    gettext_noop("Select action to run"),
    gettext_noop("Select all rows"),
    gettext_noop("Select record"),
    gettext_noop("Select value"),
    gettext_noop("Submit"),
    gettext_noop("System"),
    gettext_noop("To"),
    gettext_noop("Toggle password visibility"),
    gettext_noop("True"),
    gettext_noop("Type to search"),
    gettext_noop("Value"),
    gettext_noop("Welcome back to"),
    gettext_noop("You have been successfully logged out from the administration"),
    gettext_noop("After you've created a user, you’ll be able to edit more user options."),
    gettext_noop(
        "Raw passwords are not stored, so there is no way to see this user’s password, but you can change the password"
        ' using <a href="{}" class="text-primary-600 dark:text-primary-500">this form</a>.'
    ),
    ngettext_lazy(
        "This password is too short. It must contain at least %d character.",
        "This password is too short. It must contain at least %d characters.",
    ),
)
