"""`manage.py translate`: gathers Kith's texts from sources and templates into .po files, and compiles these to .mo."""

import re
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils.translation.template import templatize

ROOMS = ("companions", "memory", "platform", "templates", "voice")
LOCALES = ("zh_Hans",)
WIDTH = 110
HEADER = """\
# Kith's words in {name}. `manage.py translate` adds what is new, drops what is gone, and compiles.
msgid ""
msgstr ""
"Language: {locale}\\n"
"Plural-Forms: {plural_forms}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

"""
KEYWORDS: dict[str, tuple[int | tuple[int, str], ...] | None] = {
    **dict.fromkeys(("_", "gettext", "gettext_lazy", "gettext_noop")),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (1, 2)),
    **dict.fromkeys(("pgettext", "pgettext_lazy"), ((1, "c"), 2)),
    **dict.fromkeys(("npgettext", "npgettext_lazy"), ((1, "c"), 2, 3)),
}


def extract_catalog() -> Catalog:
    """Return a catalogue of all texts that the project's Python files and templates mark for translation."""
    catalog = Catalog(project="Kith", charset="utf-8")
    for room in ROOMS:
        for path in sorted((settings.BASE_DIR / room).rglob("*")):
            place = path.relative_to(settings.BASE_DIR).as_posix()
            if path.suffix == ".py" and "migrations" not in path.parts:
                source = path.read_text()
            elif path.suffix in {".html", ".txt"} and room == "templates":
                # What templatize returns resembles Python, but its indentation would be a syntax error.
                template = templatize(path.read_text(), origin=place)
                source = re.sub(r"^[ \t]+", "", template, flags=re.MULTILINE)
            else:
                continue
            found = extract("python", BytesIO(source.encode()), KEYWORDS, ["Translators:"])
            for _line, ids, comments, context in found:
                catalog.add(ids, None, [(place, 0)], auto_comments=comments, context=context)
    return catalog


def is_translated(message: Message) -> bool:
    """Return whether the message is translated, in all its plural forms."""
    return all(message.string) if isinstance(message.string, tuple) else bool(message.string)


def po_path(locale: str) -> Path:
    return Path(settings.LOCALE_PATHS[0]) / locale / "LC_MESSAGES" / "django.po"


def read_catalog(locale: str) -> Catalog:
    """Return the locale's catalogue from its .po file, or an empty one if there is no file yet."""
    path = po_path(locale)
    if not path.exists():
        return Catalog(locale=locale, project="Kith", charset="utf-8")
    with path.open("rb") as file:
        return read_po(file, locale=locale)


def compile_catalog(catalog: Catalog) -> bytes:
    """Return the content of the .mo file, which changes only if texts do."""
    file = BytesIO()
    catalog.creation_date = datetime.fromtimestamp(0, UTC)
    write_mo(file, catalog)
    return file.getvalue()


def update_catalog(locale: str) -> Catalog:
    """Update the .po file from the sources, without fuzzy matches, and write the .mo file; return the catalogue."""
    catalog, path = read_catalog(locale), po_path(locale)
    catalog.update(extract_catalog(), no_fuzzy_matching=True)
    catalog.obsolete.clear()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(render_po(catalog))
    path.with_suffix(".mo").write_bytes(compile_catalog(catalog))
    return catalog


def render_po(catalog: Catalog) -> bytes:
    """Return the content of the .po file, without dates, so that it changes only if texts do."""
    file = BytesIO()
    write_po(file, catalog, width=WIDTH, omit_header=True, sort_by_file=True)
    name = catalog.locale.english_name if catalog.locale else ""
    fields = {"name": name, "locale": catalog.locale, "plural_forms": catalog.plural_forms}
    return HEADER.format(**fields).encode() + file.getvalue()


class Command(BaseCommand):
    help = "Gather what is to be translated into locale/, and compile it. Needs requirements-dev.txt."

    def handle(self, *args: Any, **options: Any) -> None:
        for locale in LOCALES:
            catalog = update_catalog(locale)
            missing = [message.id for message in catalog if message.id and not is_translated(message)]
            self.stdout.write(f"{locale}: {len(catalog)} texts, {len(missing)} not translated yet")
            for text in missing:
                self.stdout.write(f"  {text}")
