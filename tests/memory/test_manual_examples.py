"""The examples of docs/memory.md do what they say."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from companions.models import Companion

MANUAL = Path(settings.BASE_DIR) / "docs" / "memory.md"
EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.django_db
def test_the_examples_run_in_their_order(mira: Companion) -> None:
    text = MANUAL.read_text()
    names: dict[str, Any] = {"user": mira.user}
    examples = list(EXAMPLE.finditer(text))
    assert len(examples) >= 8
    for example in examples:
        blank = "\n" * text[: example.start(1)].count("\n")  # so that a failure names its line in the manual
        exec(compile(blank + example[1], str(MANUAL), "exec"), names)
