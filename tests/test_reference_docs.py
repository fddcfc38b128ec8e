"""docs/settings.md and docs/data-model.md say what the code says."""

import re
from pathlib import Path

from django.conf import settings

from config.management.commands.write_reference import write_reference

# Set by `make up` or the web process itself; named with the others.
NOT_A_PERSONS = {
    "KITH_CHAT_FOUND",
    "KITH_ENGINE_KEY",
    "KITH_IS_WEB",
    "KITH_REHEARSAL",
    "EMBEDDING_PREVIOUS_BASE_URL",
}


def test_the_documents_made_from_the_code_are_up_to_date(tmp_path: Path) -> None:
    for path in write_reference(tmp_path):
        kept = settings.BASE_DIR / "docs" / path.name
        assert path.read_text() == kept.read_text(), (
            f"run manage.py write_reference: {path.name} is out of date"
        )


def test_every_setting_is_documented() -> None:
    source = (settings.BASE_DIR / "platform" / "config" / "settings.py").read_text()
    read = set(re.findall(r'(?:env\.\w+|secret)\(\s*"([A-Z0-9_]+)"', source))
    table = (settings.BASE_DIR / "docs" / "settings.md").read_text()
    assert {name for name in read - NOT_A_PERSONS if f"`{name}`" not in table} == set()
