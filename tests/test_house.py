"""The shape of the house: what may shadow what, who may import whom, whose every row is."""

import ast
import re
import subprocess
import sys
from fnmatch import filter as matching
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings

from config.celery import app as celery
from tests.fixtures.sources import parse

ROOT = Path(settings.BASE_DIR)
LAYERS = [
    "config",
    "integrations",
    "voice",
    "companions",
    "memory",
    "safety",
    "cards",
    "pasts",
    "files",
    "accounts",
    "providers",
    "jobs",
    "database",
    "text",
]
HOMES = {
    layer: path for layer in LAYERS for path in (ROOT / layer, ROOT / "platform" / layer) if path.is_dir()
}
SDKS = {"openai", "tokenizers", "safetensors", "httpx2", "aiohttp", "av"}
THE_SERVERS_OWN = {
    "accounts.AccountDeletion": "names nobody: its account is gone",
    "accounts.Invitation": "made by operators before anyone owns it",
    "memory.Space": "names a model, holds nothing of anyone's",
    "providers.Download": "a model's file, the operator's",
    "providers.PinnedDigest": "of a model's file, the operator's",
    "providers.Provider": "the operator's, whom everybody is answered by",
    "safety.AuditEntry": "about operators, kept when its subject is gone",
}


def sources(home: Path) -> list[Path]:
    return sorted(home.rglob("*.py"))


@cache
def imports(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """All imports of a file."""
    nodes = ast.walk(parse(path.read_text()))
    return [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]


def imported(path: Path) -> set[str]:
    """The top-level packages that a file imports anywhere."""
    nodes = imports(path)
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [
        node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level
    ]
    return {name.split(".")[0] for name in names}


def test_the_platform_folder_never_shadows_the_standard_library() -> None:
    code = "import platform; assert platform.system()"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    assert not (ROOT / "platform" / "__init__.py").exists()
    assert not list((ROOT / "platform").glob("*.py"))


def test_what_a_folder_of_tests_shares_ends_with_its_last_test() -> None:
    """Where a folder is no package, pytest keeps a package's fixture until the whole run ends."""
    tests = ROOT / "tests"
    sharing = [path.parent for path in tests.rglob("conftest.py") if 'scope="package"' in path.read_text()]
    assert tests / "browser" in sharing
    above = {
        folder for place in sharing for folder in (place, *place.parents) if folder.is_relative_to(tests)
    }
    assert [folder for folder in above if not (folder / "__init__.py").exists()] == []


@pytest.mark.parametrize("layer", HOMES)
def test_packages_import_only_downwards(layer: str) -> None:
    above = set(LAYERS[: LAYERS.index(layer)])
    upwards = {str(path.relative_to(ROOT)): imported(path) & above for path in sources(HOMES[layer])}
    assert {path: names for path, names in upwards.items() if names} == {}


EDGES = ("api", "pages", "sockets")


@pytest.mark.parametrize("edge", EDGES)
def test_an_edge_of_companions_imports_no_other_edge(edge: str) -> None:
    others = tuple(f"companions.{other}." for other in EDGES if other != edge)
    found = {}
    for path in sources(ROOT / "companions" / edge):
        nodes = [node for node in imports(path) if isinstance(node, ast.ImportFrom)]
        names = [f"{node.module}.{alias.name}." for node in nodes for alias in node.names]
        found[path.name] = [name for name in names if name.startswith(others)]
    assert any(found)
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part not in {"platform", "__init__"})


def imported_modules(path: Path, modules: set[str]) -> set[str]:
    """The modules of Kith that a file imports, a package's own where a name is none of its modules."""
    found = set()
    for node in imports(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= names & modules or {node.module}
    return found & modules - {module_name(path)}


def test_no_modules_import_each_other_in_a_circle() -> None:
    paths = [path for home in HOMES.values() for path in sources(home)]
    modules = {module_name(path) for path in paths}
    graph = {module_name(path): imported_modules(path, modules) for path in paths}
    assert sum(map(len, graph.values())) > len(graph)
    TopologicalSorter(graph).prepare()  # CycleError names the circle


def test_every_task_that_is_scheduled_or_routed_exists() -> None:
    """A worker drops what it does not know. A package's `tasks.py` is found if the package is an app, or is named in
    config/celery.py.
    """
    celery.loader.import_default_modules()
    scheduled = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert scheduled - celery.tasks.keys() == set()
    assert [route for route in settings.CELERY_TASK_ROUTES if not matching(celery.tasks, route)] == []


def test_a_log_event_is_a_name_whose_details_are_fields() -> None:
    events = [
        (path.name, call.args[0].value)
        for home in HOMES.values()
        for path in sources(home)
        for call in ast.walk(parse(path.read_text()))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id in {"log", "logger"}
        and call.args
        and isinstance(call.args[0], ast.Constant)
    ]
    assert len(events) > 40
    assert [event for event in events if not re.fullmatch(r"[a-z]+(_[a-z]+)*", event[1])] == []


def test_no_sdk_is_imported_outside_providers() -> None:
    outside = [path for layer, home in HOMES.items() if layer != "providers" for path in sources(home)]
    assert {
        str(path.relative_to(ROOT)): imported(path) & SDKS for path in outside if imported(path) & SDKS
    } == {}


@pytest.mark.parametrize(
    "model",
    [m for m in apps.get_models() if m.__module__.split(".")[0] in LAYERS],
    ids=lambda m: m._meta.label,
)
def test_every_model_answers_whose_it_is(model: type) -> None:
    is_owned = callable(getattr(model._meta.default_manager, "owned_by", None))
    assert is_owned != (model._meta.label in THE_SERVERS_OWN)


def test_the_models_of_every_front_door_are_among_them() -> None:
    """A label may be another word than the package's: "push" stands in integrations."""
    assert apps.get_model("push.Subscription").__module__.startswith("integrations.")


def test_no_test_is_skipped() -> None:
    """A test that lacks its tool fails; none asks for a skip."""
    words = ("pytest.skip(", "importorskip(", "mark.skip", "skipUnless", "skipIf")
    here = Path(__file__)
    skipping = [
        path.name
        for path in (ROOT / "tests").rglob("*.py")
        if path != here and any(w in path.read_text() for w in words)
    ]
    assert skipping == []
