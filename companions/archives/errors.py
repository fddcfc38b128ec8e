"""What may be wrong with an archive: nothing of it is kept then."""

from django.utils.translation import gettext as _

from companions.errors import CompanionsError


class ArchiveError(CompanionsError):
    """An archive that is not restored."""


class RowError(Exception):
    """What of one row is wrong, in words."""

    def __init__(self, field: str, what: str) -> None:
        super().__init__(field, what)
        self.field, self.what = field, what

    def locate(self, section: str, line: int) -> ArchiveError:
        """Return the refusal, which says in which line of the archive it stands."""
        detail = _("Line %(line)s of %(section)s cannot be restored. %(field)s: %(what)s.")
        told = {"line": f"{line:,}", "section": section, "field": self.field, "what": self.what.rstrip(".")}
        return ArchiveError("bad_row", detail % told)
