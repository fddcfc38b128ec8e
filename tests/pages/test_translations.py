"""Kith speaks Chinese as well as English, and no text waits to be translated."""

import re

import pytest
from babel.messages.catalog import Catalog, Message
from django.utils import translation

from config.management.commands.translate import (
    LOCALES,
    compile_catalog,
    extract_catalog,
    is_translated,
    po_path,
    read_catalog,
)

PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|</?\w+>")


def keys(catalog: Catalog) -> set[tuple[str | None, str | tuple[str, ...]]]:
    return {(message.context, _id(message)) for message in catalog if message.id}


def _id(message: Message) -> str | tuple[str, ...]:
    return message.id if isinstance(message.id, str) else tuple(message.id)


def forms(value: str | tuple[str, ...] | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


@pytest.mark.parametrize("locale", LOCALES)
def test_every_text_is_translated_and_none_is_left_over(locale: str) -> None:
    catalog = read_catalog(locale)
    assert keys(extract_catalog()) == keys(catalog), "run: make translate"
    assert [message.id for message in catalog if message.id and not is_translated(message)] == []


@pytest.mark.parametrize("locale", LOCALES)
def test_what_is_compiled_is_what_is_written(locale: str) -> None:
    compiled = po_path(locale).with_suffix(".mo").read_bytes()
    assert compiled == compile_catalog(read_catalog(locale)), "run: make translate"


@pytest.mark.parametrize("locale", LOCALES)
def test_translations_keep_what_is_filled_in(locale: str) -> None:
    for message in read_catalog(locale):
        if message.id:
            given = set(PLACEHOLDER.findall(" ".join(forms(message.id))))
            assert all(set(PLACEHOLDER.findall(text)) == given for text in forms(message.string)), message.id


def test_no_space_parts_chinese_from_a_name() -> None:
    """A companion's name may be Chinese; names of files and parameters never are."""
    name, chinese = r"(?:%\(name\)s|\{name\})", "[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]"
    spaced = re.compile(rf"{chinese} {name}|{name} {chinese}")
    texts = [text for message in read_catalog("zh_Hans") if message.id for text in forms(message.string)]
    found = [text for text in texts if spaced.search(text)]
    assert [text for text in found if not text.startswith(("下载 ", "这条规则没有参数 "))] == []


def test_django_finds_the_words() -> None:
    with translation.override("zh-hans"):
        assert translation.gettext("Memories") == "记忆"
    with translation.override("en"):
        assert translation.gettext("Memories") == "Memories"
