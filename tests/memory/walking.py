"""Walking the package `memory`: whatever reads rows of companions must be told which companion it reads for."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from inspect import Parameter, getmembers, isclass, isfunction, signature
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, get_args, get_type_hints

from django.apps import apps
from django.db.models import Model

import memory
from memory.recall.candidates import CandidateSet
from tests.fixtures.sources import parse

ROOT = Path(memory.__file__).parent
OF_NOBODY = {"Space"}  # names a model, holds nothing of anyone's
NEW_ROWS = {"create", "bulk_create", "none"}
MANAGERS = {"objects", "everywhere", "_default_manager", "_base_manager"}
TABLE = re.compile(r"\bmemory_(?:memory|embedding|recall|recalled)\b")
NARROWED = re.compile(r"companion_id\s*=\s*%(?:s|\(companion\)s)")
# Operators' pages: each look is on record (tests/admin).
NOT_SEARCHED = {"memory.admin.memories", "memory.apps"}


class Place(NamedTuple):
    """Where in the package something stands."""

    module: str
    function: str

    def __str__(self) -> str:
        return f"{self.module}.{self.function}"


def modules() -> list[str]:
    """The names of all modules of the package but its migrations and the operators' pages."""
    names = [one.name for one in pkgutil.walk_packages(memory.__path__, "memory.")]
    return [name for name in names if ".migrations" not in name and name not in NOT_SEARCHED]


def source(module: str) -> str:
    return Path(importlib.import_module(module).__file__ or "").read_text()


# -- queries --------------------------------------------------------------------------------------------------------


def unnarrowed(module: str, text: str) -> Iterator[Place]:
    """Where the text asks for rows of companions, by the ORM or in SQL, without saying of which."""
    for function, nodes in _by_function(parse(text)):
        if any(_is_wide(node) for node in nodes):
            yield Place(module, function)


def unnarrowed_above(module: str, text: str) -> Iterator[Place]:
    """The same in a package above, where other models have managers too: only the rows of memory count."""
    names = {model.__name__ for model in _models()}
    for function, nodes in _by_function(parse(text)):
        managers = [node for node in nodes if isinstance(node, ast.Attribute) and node.attr in MANAGERS]
        if any(_root(one) in names and not _is_narrowed(one) for one in managers):
            yield Place(module, function)


def _by_function(tree: ast.Module) -> Iterator[tuple[str, list[ast.AST]]]:
    """Each outermost function, class by class, with the nodes in it, which know their parents; then what stands bare."""
    for parent in ast.walk(tree):
        for child in ast.iter_child_nodes(parent):
            child.parent = parent  # type: ignore[attr-defined]
    for top in tree.body:
        inner = top.body if isinstance(top, ast.ClassDef) else [top]
        for one in inner:
            yield _name(one), [node for node in ast.walk(one) if not _is_docstring(node)]


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return str(getattr(node, "name", ""))


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(getattr(node, "parent", None), ast.Expr)


def _is_wide(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return bool(TABLE.search(node.value)) and not NARROWED.search(node.value)
    if isinstance(node, ast.Attribute) and node.attr in MANAGERS:
        return _root(node) not in OF_NOBODY and not _is_narrowed(node)
    if isinstance(node, ast.Attribute) and node.attr == "embeddings":
        return isinstance(node.value, ast.Name) and "space" in node.value.id.lower()
    return isinstance(node, ast.Attribute) and node.attr in {"get_model", "get_models", "raw", "extra"}


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_narrowed(manager: ast.AST) -> bool:
    """Whether the calls that follow a manager make new rows, or name a companion."""
    calls = list(_calls(manager))
    return bool(calls) and (calls[0][0] in NEW_ROWS or any(_names_a_companion(*one) for one in calls))


def _calls(node: Any) -> Iterator[tuple[str, ast.Call]]:
    """The methods called one after the other on what the node gives."""
    while isinstance(node.parent, ast.Attribute) and isinstance(node.parent.parent, ast.Call):
        method, node = node.parent.attr, node.parent.parent
        yield method, node


def _names_a_companion(method: str, call: ast.Call) -> bool:
    if method == "of":
        return bool(call.args)
    return any(re.search(r"(^|__)companion(_id)?$", word.arg or "") for word in call.keywords)


# -- what functions promise -------------------------------------------------------------------------------------------


def unasked_for_whom(module: ModuleType) -> Iterator[Place]:
    """The module's functions and methods that give memories back and are not told whose."""
    for name, function, owner in _functions(module):
        if not (owner and _holds(owner)) and _gives_memories(function) and not _is_told_whose(function):
            yield Place(module.__name__, name)


def _functions(module: ModuleType) -> Iterator[tuple[str, Any, type | None]]:
    for name, one in getmembers(module):
        if getattr(one, "__module__", None) != module.__name__:
            continue
        if isfunction(one):
            yield name, one, None
        elif isclass(one):
            own = [pair for pair in getmembers(one, isfunction) if pair[1].__module__ == module.__name__]
            yield from ((part, method, one) for part, method in own)


def _gives_memories(function: Any) -> bool:
    return _holds(get_type_hints(function).get("return"))


def _is_told_whose(function: Any) -> bool:
    """A companion's id that cannot be left out, or something that is one companion's already."""
    hints = get_type_hints(function)
    for name, parameter in signature(function).parameters.items():
        if name == "companion_id" and type(None) not in get_args(hints[name]):
            return parameter.default is Parameter.empty
        if _holds(hints.get(name)):
            return True
    return False


def _holds(hint: Any) -> bool:
    """Whether a type is, or is made of, rows of companions."""
    if any(_holds(part) for part in get_args(hint)):
        return True
    if not isclass(hint):
        return False
    if hint is CandidateSet or issubclass(hint, _rows()):
        return True
    return (
        is_dataclass(hint)
        and any(_holds(kind) for kind in get_type_hints(hint).values())
        and bool(fields(hint))
    )


def _rows() -> tuple[type, ...]:
    """The models of memory that are companions', and their querysets."""
    models = _models()
    querysets = {type(model._default_manager.all()) for model in models}
    return (*models, *querysets)


def _models() -> list[type[Model]]:
    every = apps.get_app_config("memory").get_models()
    return [model for model in every if model.__name__ not in OF_NOBODY]
