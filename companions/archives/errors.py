"""The errors of archives. After any of them, nothing of the archive is restored."""

from django.utils.translation import gettext as _

from companions.errors import CompanionsError


class ArchiveError(CompanionsError):
    """The archive cannot be restored."""


class RowError(Exception):
    """A row of an archive is invalid: `field` is the field at fault, `what` says in words what is wrong with it."""

    def __init__(self, field: str, what: str) -> None:
        super().__init__(field, what)
        self.field, self.what = field, what

    def locate(self, section: str, line: int) -> ArchiveError:
        """Return an ArchiveError for this error that names the section and the line of the row."""
        detail = _("Line %(line)s of %(section)s cannot be restored. %(field)s: %(what)s.")
        values = {"line": f"{line:,}", "section": section, "field": self.field, "what": self.what.rstrip(".")}
        return ArchiveError("bad_row", detail % values)
