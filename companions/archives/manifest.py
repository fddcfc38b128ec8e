"""Read and check an archive's manifest, and describe the archive in plain words before it is restored."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Annotated, Any, Literal

import orjson
from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from pydantic import AwareDatetime, BaseModel, Field, StringConstraints, ValidationError

from companions.archives.errors import ArchiveError
from companions.archives.sections import SECTIONS
from companions.moments import is_moment
from files.archives import Archive
from files.errors import FilesError
from text.strings import is_storable, one_line

FORMAT, VERSION = "kith-archive", "1.0"
MANIFEST, README = "manifest.json", "README.txt"
MAX_MANIFEST_BYTES = 2_000_000
MAX_SECTIONS = 200
README_TEXT = """This is a companion of Kith's, whole: who it is, what was said, and what it remembers.

Bring this file to any Kith as it is (New companion, Bring someone along): the companion goes on there.
To look into it: every *.ndjson holds one JSON object a line, files/ what was sent and drawn, and manifest.json says how
much there is of each, with checksums. Kith's documentation describes all of it (docs/archive.md).
It holds everything that you two said. Keep it as you would keep a diary.
"""
Digest = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
Name = Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9_]{0,39}$")]
Count = Annotated[int, Field(ge=0, le=2**53, strict=True)]


class Listed(BaseModel):
    rows: Count
    bytes: Count
    sha256: Digest


class Who(BaseModel):
    name: str = Field(min_length=1, max_length=80)
    tint: int = Field(40, ge=0, le=359)


class Span(BaseModel):
    first: AwareDatetime | None = None
    last: AwareDatetime | None = None


class Files(BaseModel):
    count: Count = 0
    bytes: Count = 0


class Manifest(BaseModel):
    """The content of manifest.json; unknown fields are ignored."""

    format: Literal["kith-archive"]
    version: str = Field(pattern=r"^[0-9]{1,4}\.[0-9]{1,4}$")
    made_at: AwareDatetime
    companion: Who
    span: Span = Span()
    learnt: Count = 0  # memories that do not merely repeat what was said
    sections: dict[Name, Listed] = Field(max_length=MAX_SECTIONS)
    files: Files = Files()
    missing: list[str] = Field(default=[], max_length=20_000)

    def count(self, name: str) -> int:
        return self.sections[name].rows if name in self.sections else 0

    @property
    def total(self) -> int:
        """Return how many rows there are to restore, according to the manifest."""
        return sum(listed.rows for name, listed in self.sections.items() if name in SECTIONS)


@dataclass(frozen=True, slots=True)
class Preview:
    """A summary of an archive, for the user who decides whether to restore it."""

    name: str
    tint: int
    made_at: datetime
    messages: int
    memories: int
    diary: int
    files: int
    first: datetime | None
    last: datetime | None
    remarks: Sequence[str]


def looks_like_archive(file: IO[bytes]) -> bool:
    """Return whether the ZIP file is a companion's archive and not, e.g., a card; rewind it to its beginning."""
    try:
        archive = Archive(file)
        raw = orjson.loads(archive.read(MANIFEST, MAX_MANIFEST_BYTES))
    except (FilesError, KeyError, orjson.JSONDecodeError):
        return False
    finally:
        file.seek(0)
    return isinstance(raw, dict) and raw.get("format") == FORMAT


def read_manifest(archive: Archive) -> Manifest:
    """Return the manifest; raise ArchiveError if it is invalid, or its sections differ from the archive's entries."""
    if MANIFEST not in archive.entries:
        raise ArchiveError("no_archive", _("This file is not an archive of a companion."))
    try:
        raw = orjson.loads(archive.read(MANIFEST, MAX_MANIFEST_BYTES))
    except orjson.JSONDecodeError:
        raise ArchiveError("bad_manifest", _("The archive's list of contents is broken.")) from None
    _check_version(raw)
    try:
        manifest = Manifest.model_validate(raw)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))[:80] or MANIFEST
        detail = _("The archive's list of contents is not valid (%(where)s).") % {"where": where}
        raise ArchiveError("bad_manifest", detail) from None
    moments = [at for at in (manifest.made_at, manifest.span.first, manifest.span.last) if at]
    if not is_storable(manifest.companion.name) or not all(map(is_moment, moments)):
        raise ArchiveError("bad_manifest", _("The archive's list of contents is broken."))
    _check_sections(manifest, archive)
    return manifest


def describe(manifest: Manifest) -> Preview:
    """Return the preview of an archive from its manifest."""
    return Preview(
        name=one_line(manifest.companion.name),
        tint=manifest.companion.tint,
        made_at=manifest.made_at,
        messages=manifest.count("messages"),
        memories=manifest.learnt,
        diary=manifest.count("diary"),
        files=manifest.files.count,
        first=manifest.span.first,
        last=manifest.span.last,
        remarks=list_remarks(manifest),
    )


def list_remarks(manifest: Manifest) -> list[str]:
    """Return sentences on what will be missing after a restore."""
    remarks = []
    if unknown := sorted(manifest.sections.keys() - SECTIONS):
        sentence = _("It was made by a newer Kith. What this one does not know is left out: %(names)s.")
        remarks.append(sentence % {"names": ", ".join(unknown[:10])})
    if lost := len(manifest.missing):
        sentence = ngettext(
            "%(n)d file was lost before the archive was made.",
            "%(n)d files were lost before the archive was made.",
            lost,
        )
        remarks.append(sentence % {"n": lost})
    return remarks


def _check_version(raw: Any) -> None:
    version = raw.get("version") if isinstance(raw, dict) else None
    major = version.split(".")[0] if isinstance(version, str) else ""
    if major.isascii() and major.isdecimal() and int(major[:6]) > int(VERSION.split(".")[0]):
        raise ArchiveError(
            "newer_version",
            _("This archive was made by a newer Kith. Update this one, then send the archive again."),
        )


def _check_sections(manifest: Manifest, archive: Archive) -> None:
    """Raise ArchiveError if a section is not in the archive or has another length, or if rows or bytes are too many."""
    for name, listed in manifest.sections.items():
        if name not in SECTIONS:
            continue
        info = archive.entries.get(f"{name}.ndjson")
        if info is None or info.file_size != listed.bytes:
            detail = _(
                "%(section)s is missing from the archive, or its length does not match the list of contents."
            )
            raise ArchiveError("bad_section", detail % {"section": f"{name}.ndjson"})
        if listed.rows > SECTIONS[name].most:
            detail = _("The archive has %(count)s rows of %(section)s; there can be at most %(most)s.")
            values = {"count": f"{listed.rows:,}", "section": name, "most": f"{SECTIONS[name].most:,}"}
            raise ArchiveError("too_many_rows", detail % values)
    if manifest.files.bytes > settings.FILES_BYTES_EACH:
        most = settings.FILES_BYTES_EACH // 1_000_000
        detail = _("The archive's files take up more than the %(most)s MB that each person has.")
        raise ArchiveError("no_room", detail % {"most": most})
