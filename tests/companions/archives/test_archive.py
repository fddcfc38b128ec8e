"""A companion leaves as an archive and comes back: alike in every row but for ids, on every branch."""

import pytest
from django.apps import apps
from django.db import models

from accounts.models import User
from companions.archives.sections import NOT_ARCHIVED, NOT_CARRIED, SECTIONS
from companions.branches.operations import choose
from companions.models import Branch, Companion, Prompt
from files.contents import read_content
from files.models import StoredFile
from memory.models import Embedding
from memory.recall.candidates import EVERYTHING
from memory.recall.recall import search
from tests.companions.archives.everything import NOON, live_fully
from tests.companions.archives.packing import pack, unpack
from tests.fixtures.alike import find_difference, read_rows

pytestmark = pytest.mark.django_db(transaction=True)


def test_every_table_and_column_of_a_companion_travels_or_stays_for_a_reason() -> None:
    ways = {
        model._meta.label
        for model in apps.get_models()
        if any(
            isinstance(one, models.ForeignKey) and one.related_model is Companion
            for one in model._meta.fields
        )
    }
    travelling = {section.model._meta.label for section in SECTIONS.values()}
    assert ways - travelling - NOT_ARCHIVED.keys() == set()
    assert travelling & NOT_ARCHIVED.keys() == set()
    through = {
        field.remote_field.through._meta.label
        for section in SECTIONS.values()
        for field in section.model._meta.many_to_many
    }
    assert through - travelling == set()
    left = {
        f"{section.model._meta.label}.{field.attname}"
        for section in SECTIONS.values()
        for field in section.model._meta.concrete_fields
        if field.attname not in {*section.fields, *NOT_CARRIED}
        and not isinstance(field, models.AutoField | models.BigAutoField)
    }
    assert left == set()


def test_a_companion_comes_back_as_it_was_on_every_branch(alice: User, bob: User) -> None:
    bob.time_zone = alice.time_zone  # or timers would move
    bob.save()
    companion = live_fully(alice)
    archive = pack(companion)
    before = read_rows(companion.pk)
    assert [name for name, rows in before.items() if not rows] == []
    back = unpack(bob, archive)
    assert (back.user, back.name) == (bob, "Mira")
    assert find_difference(before, read_rows(back.pk)) == ""
    files = {file.kind: read_content(file) for file in StoredFile.objects.filter(companion=back)}
    assert files == {file.kind: read_content(file) for file in StoredFile.objects.filter(companion=companion)}
    assert not Embedding.objects.filter(companion=back).exists()
    assert not Prompt.objects.filter(companion=back).exists()
    found = search(back.pk, "grows", EVERYTHING, NOON, bob.zone)  # a word of the page alone
    assert found == [back.documents.get().pages.get().memory_id]
    for branch in Branch.objects.filter(companion=companion).order_by("made_at", "id"):
        theirs = Branch.objects.get(companion=back, made_at=branch.made_at, name=branch.name)
        choose(branch, NOON)
        choose(theirs, NOON)
        assert find_difference(read_rows(companion.pk), read_rows(back.pk)) == ""
