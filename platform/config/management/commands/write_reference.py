"""The parts of docs/ that are generated from the code: settings, diagrams of the data model, an archive's sections."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management.base import BaseCommand
from django.db.models import Field, ForeignObject, Model

from companions.archives.sections import NOT_ARCHIVED, NOT_CARRIED, SECTIONS

APPS = ("providers", "accounts", "safety", "files", "push", "companions", "memory", "voice")
ENTRY = re.compile(r"^#: (.+(?:\n#:   .+)*)", re.MULTILINE)
SETTINGS_HEAD = """\
# Settings

All by environment variables. A bare checkout runs without any. Made by `manage.py write_reference` from the comments in
`platform/config/settings.py`.

| name | default | for |
| --- | --- | --- |
"""
MODELS_HEAD = """\
# The data model

Made by `manage.py write_reference` from the models. Each picture is one app; a table of another app stands as a name
alone. `PK` is a primary key, `FK` a foreign key, `UK` a unique column.
"""
SECTIONS_HEAD = """\
# What an archive holds

Made by `manage.py write_reference` from `companions/archives/sections.py`; [archive.md](archive.md) tells the format. A
column is named as in the database; `…_id` holds the id of a row in another section.

| section | rows at most | columns |
| --- | --- | --- |
"""


def describe_settings(source: str) -> Iterator[str]:
    """Yield a row of the table for each `#:` comment in the source of the settings, in their order.

    A comment reads `#: NAME | default | what for`, and is continued by indented `#:` lines.
    """
    for entry in ENTRY.findall(source):
        yield f"| {' '.join(entry.replace('#:', '').split())} |"


def describe_sections() -> Iterator[str]:
    """Yield the lines of the tables of an archive's sections, and of the tables and columns that are left out."""
    for name, section in SECTIONS.items():
        yield f"| `{name}` | {section.most:,} | {', '.join(f'`{column}`' for column in section.fields)} |"
    yield from ("", "## Tables that stay behind", "", "| table | why |", "| --- | --- |")
    yield from (f"| {label} | {reason} |" for label, reason in NOT_ARCHIVED.items())
    yield from (
        "",
        "## Columns that stay behind",
        "",
        "| column | what stands there afterwards |",
        "| --- | --- |",
    )
    yield from (f"| `{column}` | {instead} |" for column, instead in NOT_CARRIED.items())


def draw_app(label: str) -> Iterator[str]:
    """Yield the lines of a Mermaid entity-relationship diagram of an app's tables."""
    yield "erDiagram"
    models = sorted(apps.get_app_config(label).get_models(), key=lambda model: model.__name__)
    for model in models:
        yield f"    {model.__name__} {{"
        for field in _columns(model):
            key = "FK" if isinstance(field, ForeignObject) else "UK" if field.unique else ""
            key = "PK" if field.primary_key else key
            yield f"        {field.get_internal_type()} {field.name} {key}".rstrip()
        yield "    }"
    for model in models:
        for field in _columns(model):
            if isinstance(field, ForeignObject):
                other = field.related_model
                many = "|o" if field.unique else "}o"
                yield f"    {model.__name__} {many}--{'o|' if field.null else '||'} {other.__name__} : {field.name}"


def _columns(model: type[Model]) -> list["Field[object, object]"]:
    return [field for field in model._meta.get_fields() if isinstance(field, Field) and field.concrete]


def write_reference(folder: Path) -> list[Path]:
    """Write the three generated documents into the folder; return their paths."""
    source = (settings.BASE_DIR / "platform" / "config" / "settings.py").read_text()
    pictures = [
        "\n".join(["", f"## {label}", "", "```mermaid", *draw_app(label), "```", ""]) for label in APPS
    ]
    texts = {
        folder / "settings.md": SETTINGS_HEAD + "".join(f"{row}\n" for row in describe_settings(source)),
        folder / "data-model.md": MODELS_HEAD + "".join(pictures),
        folder / "archive-sections.md": SECTIONS_HEAD + "".join(f"{line}\n" for line in describe_sections()),
    }
    for path, text in texts.items():
        path.write_text(text)
    return list(texts)


class Command(BaseCommand):
    help = "Write docs/settings.md, docs/data-model.md and docs/archive-sections.md anew from the code."

    def handle(self, *args: Any, **options: Any) -> None:
        for path in write_reference(settings.BASE_DIR / "docs"):
            self.stdout.write(str(path.relative_to(settings.BASE_DIR)))
