"""Static files with a hash of their content in their names, which browsers cache for ever; also in scripts' imports.

Otherwise a browser would ask for each module again on every page. `list_imports` lets a page name all modules that it
needs, so that they are not fetched level by level. A style sheet includes the sheets that it imports.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Any

from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import HashedFilesMixin
from django.core.files.base import ContentFile
from django.core.files.storage import InMemoryStorage, Storage
from whitenoise.storage import CompressedManifestStaticFilesStorage

IMPORT = re.compile(
    r"""(?m)(?P<matched>(?P<before>^(?:import|export)\b(?:[^"';]*\bfrom)?\s*["'])(?P<url>\.[^"']+))"""
)
STYLE_SHEETS = [rules for rules in HashedFilesMixin.patterns if rules[0] == "*.css"]
SHEET = re.compile(r"""^@import "(\w+\.css)";$""", re.MULTILINE)


class HashedFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # it has no types
    """Whitenoise's storage, which also rewrites the paths in our scripts' imports, and inlines our sheets' imports."""

    # Scripts of packages stay as they are, since they name modules that are not among our files.
    patterns = (*STYLE_SHEETS, ("js/*.js", ((IMPORT.pattern, "%(before)s%(url)s"),)))
    max_post_process_passes = 20  # one for each level of imports

    def post_process(
        self, paths: dict[str, tuple[Storage, str]], **options: Any
    ) -> Iterator[tuple[str, str | None, bool | Exception]]:
        """Inline into each sheet in css/ the sheets that it imports, then process all files."""
        sheets = {name: _read(*place) for name, place in paths.items() if name.startswith("css/")}
        joined = InMemoryStorage()
        for name, text in sheets.items():
            joined.save(name, ContentFile(SHEET.sub(lambda match: sheets[f"css/{match[1]}"], text)))
        yield from super().post_process({**paths, **{name: (joined, name) for name in sheets}}, **options)


def _read(storage: Storage, path: str) -> str:
    with storage.open(path) as file:
        text: str = file.read().decode()
        return text


@cache
def list_imports(path: str) -> tuple[str, ...]:
    """Return the modules that a module of ours imports, directly or indirectly, each once, breadth first.

    `path` and the returned paths are relative to the static folder. Raise FileNotFoundError if a module is missing.
    """
    found = dict[str, None]()
    waiting = [path]
    while waiting:
        current = waiting.pop(0)
        file = finders.find(current)
        if file is None:
            raise FileNotFoundError(current)
        folder = PurePosixPath(current).parent
        imported = [
            normpath(str(folder / found["url"]))
            for found in IMPORT.finditer(Path(file).read_text(encoding="utf-8"))
        ]
        fresh = [name for name in imported if name != path and name not in found]
        found |= dict.fromkeys(fresh)
        waiting += fresh
    return tuple(found)
