"""Nothing searches memory without a companion: no function, no manager, no operation, no page."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest
from django.apps import apps
from django.conf import settings

from tests.fixtures.routes import openapi, routes
from tests.memory.walking import modules, source, unasked_for_whom, unnarrowed, unnarrowed_above

NOT_OF_ONE_COMPANION = {
    "memory.embedding.backlog._waiting": "the sweep: what waits is embedded, whosever it is, and given to nobody",
    "memory.embedding.backlog._keep": "the rows of the sweep's own batch, by their ids, locked and looked at again",
    "memory.documents.gists.find_due": "the sweep: ids of documents whose pages wait, whosever they are",
    "memory.documents.gists.write_gists": "the one document of the sweep, by its id; a number comes back",
    "memory.documents.gists._write_next": "the same document, looked at again",
    "memory.consolidation.runs.find_due": "the sweep: ids of nights that wait, whosever they are",
    "memory.threads.drop_old": "the sweep: threads that are too old, whosever they are; nothing comes back",
    "memory.admin.spaces.embedded": "counts memories in each space for operators; none comes back",
    "memory.embedding.spaces.count_served": "counts companions for operators; no memory comes back",
    "memory.emotion.USE": "the rows that one reply was shown, by that reply; a number comes back",
    "memory.deletion.derived._drawn_from": "a condition on the companion's own, by memories of its own that go",
    "memory.threads.load_open_threads": "a condition on the companion's own: that no message behind one is hidden",
    "memory.models.memory.from_messages": "a condition, which only narrows further what is narrowed already",
}
ABOVE = {  # in companions: each starts from a row that is one companion's, and was found as its owner's
    "companions.admin.conversation.private": "what is remembered of the one message that an operator looks at",
    "companions.archives.restore._finish_gists": "the restored companion's own gists, by their ids; nothing comes back",
    "companions.api.diary._write_once": "the revision that was written just now or under the same key, its owner's",
    "companions.deletion.repetition.delete_again": "memories that were deleted before, by their ids; nothing comes back",
    "companions.deletion.traces._scrub_replies": "the cues of the companion's own recalls, by their ids",
    "companions.life.leases._list_leased": "all rows that workers lease, whosever they are: only their times change",
    "companions.life.triggers._load_memories": "a condition on the companion's own: that no message behind one is hidden",
    "companions.tasks.drop_old_prompts": "recalls by API that are a month old, whosever they are; nothing comes back",
    "companions.transfer.digital_life_export._write_sessions": "what the companion's own recalls had found",
    "companions.conversations.transcript.with_replies": "fetched with the companion's own messages, by their replies",
    "companions.sessions.drafts.has_learnt": "whether sessions of one companion have taught something; yes or no",
    "companions.sessions.tasks.rewrite_diary": "whose the task's entry is, by its id; their id alone",
    "companions.tasks.write_gists": "whose the task's document is, by its id; their id alone",
    "companions.sessions.diary_rewrite.find_due": "the sweep: ids of stale entries, whosever they are",
    "companions.sessions.diary_rewrite.run": "the one entry of the sweep, by its id; nothing comes back",
    "companions.sessions.diary_rewrite._write": "the same entry, looked at again",
}
PLANTED = [
    "def find(cue):\n    return Memory.objects.filter(text__icontains=cue)",
    "def find(cue):\n    return list(Embedding.objects.order_by('pk'))",
    "def find(id):\n    return Recall.objects.get(pk=id)",
    "def find():\n    return Memory.objects.all()",
    "def find():\n    return each(Memory.objects)",
    "def find():\n    return Memory.objects.of().newest(3)",
    "def find():\n    return Memory._default_manager.filter(kind='said')",
    "def find(id):\n    return Any.objects.get_or_create(pk=id)",
    "class Finder:\n    def find(self):\n        return Memory.objects.open()",
    "find = 'SELECT text FROM memory_memory WHERE text ILIKE %s'",
    "def find(cursor):\n    cursor.execute('SELECT 1 FROM memory_recalled found')",
    "def find(space):\n    return space.embeddings.all()",
    "def find():\n    return Memory.objects.raw('SELECT 1')",
    "def find():\n    return apps.get_model('memory', 'Memory')",
]
HARMLESS = [
    "def find(companion_id):\n    return Memory.objects.defer('entry').of(companion_id).newest(3)",
    "def find(companion_id):\n    return Memory.objects.filter(companion_id=companion_id, kind='said')",
    "def find(companion_id):\n    return Recalled.objects.filter(recall__companion=companion_id)",
    "def keep(companion_id):\n    return Memory.objects.create(text='tea')",
    "def find():\n    return Memory.objects.none()",
    "def find():\n    return Space.objects.all()",
    "find = 'SELECT 1 FROM memory_memory WHERE companion_id = %s'",
    'def find():\n    """memory_memory holds them all."""',
]


@pytest.mark.parametrize("module", modules())
def test_no_query_leaves_the_companion_out(module: str) -> None:
    wide = {str(place) for place in unnarrowed(module, source(module))}
    assert wide - NOT_OF_ONE_COMPANION.keys() == set()


@pytest.mark.parametrize("module", modules())
def test_no_function_gives_memories_without_being_told_whose(module: str) -> None:
    wide = {str(place) for place in unasked_for_whom(importlib.import_module(module))}
    assert wide - NOT_OF_ONE_COMPANION.keys() == set()


def test_every_exception_is_still_needed() -> None:
    wide = {str(place) for module in modules() for place in unnarrowed(module, source(module))}
    assert NOT_OF_ONE_COMPANION.keys() - wide == set()


def test_nothing_above_searches_memory_without_a_companion_either() -> None:
    wide = set()
    for path in (Path(settings.BASE_DIR) / "companions").rglob("*.py"):
        module = ".".join(path.relative_to(settings.BASE_DIR).with_suffix("").parts)
        wide |= {str(place) for place in unnarrowed_above(module, path.read_text())}
    assert wide == ABOVE.keys()


def test_the_whole_package_is_walked() -> None:
    assert {
        "memory.recall",
        "memory.recall.candidates",
        "memory.recall.novelty",
        "memory.models.memory",
        "memory.scoring.policies",
    } < set(modules())


@pytest.mark.parametrize("text", PLANTED)
def test_a_planted_query_is_found(text: str) -> None:
    assert [place.function for place in unnarrowed("planted", text)] == ["find"]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_names_its_companion_is_not_accused(text: str) -> None:
    assert list(unnarrowed("harmless", text)) == []


def test_a_planted_function_is_found() -> None:
    planted = ModuleType("planted")
    code = """
from dataclasses import dataclass
from uuid import UUID
from memory.models import Memory
from memory.models.memory import MemoryQuerySet

@dataclass
class Box:
    one: Memory

def search(cue: str) -> list[Memory]: ...
def search_all(cue: str) -> "MemoryQuerySet | None": ...
def boxes() -> dict[str, Box]: ...
def of_all(companion_id: UUID | None = None) -> MemoryQuerySet: ...
def mine(companion_id: UUID) -> list[Box]: ...
def narrower(memories: MemoryQuerySet) -> MemoryQuerySet: ...
def count(cue: str) -> int: ...

class Shelf:
    def every(self) -> tuple[Memory, ...]: ...
"""
    exec(code, planted.__dict__)
    found = {place.function for place in unasked_for_whom(planted)}
    assert found == {"search", "search_all", "boxes", "of_all", "every"}


@pytest.mark.parametrize(
    "model", [one for one in apps.get_app_config("memory").get_models() if one.__name__ != "Space"]
)
def test_every_row_leads_to_one_companion(model: type) -> None:
    """Its own column, or that of the recall or the memory that it cannot be without."""
    names = {field.name for field in model._meta.get_fields() if field.concrete and not field.null}  # type: ignore[attr-defined]
    assert "companion" in names or {"recall", "memory"} <= names


SHOW_MEMORIES = {"learnt_at", "reasons"}  # what only a memory has, and only a result


def test_every_operation_that_gives_memories_is_about_one_companion() -> None:
    document = openapi()
    schemas = document["components"]["schemas"]

    def shows(name: str) -> bool:
        schema = schemas[name]
        return bool(SHOW_MEMORIES & schema.get("properties", {}).keys()) or any(
            shows(other)
            for other in schemas
            if other != name and f"#/components/schemas/{other}'" in str(schema)
        )

    giving = {
        path
        for path, methods in document["paths"].items()
        for operation in methods.values()
        for name in schemas
        if f"#/components/schemas/{name}'" in str(operation["responses"]) and shows(name)
    }
    assert len(giving) >= 4
    assert {path for path in giving if "{companion_id}" not in path and "{reply_id}" not in path} == set()


def test_every_page_about_memories_is_about_one_companion() -> None:
    found = {
        str(one.name): route
        for route, one in routes()
        if one.callback.__module__ == "companions.pages.memories"
    }
    assert len(found) >= 5
    assert {name for name, route in found.items() if "<uuid:companion_id>" not in route} == set()
