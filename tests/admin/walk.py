"""The admin's pages, walked from its registry."""

from typing import Any

from django.contrib import admin
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Model
from django.urls import reverse
from pgvector.django import VectorField

from safety.admin.private import PrivateAdmin

MARKER = "quokka"

admin.autodiscover()
ALL: list[type[Model]] = sorted(admin.site._registry, key=lambda model: model._meta.label)
PRIVATE = [model for model in ALL if isinstance(admin.site._registry[model], PrivateAdmin)]
OPEN = [model for model in ALL if model not in PRIVATE]


def name_of(model: type[Model]) -> str:
    return model._meta.label


def listing(model: type[Model]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def page(thing: Model, deed: str = "change") -> str:
    return reverse(f"admin:{thing._meta.app_label}_{thing._meta.model_name}_{deed}", args=[thing.pk])


def holds_words(field: Any) -> bool:
    """Whether people's words may stand in the field: it is free text, JSON, bytes, a list or a vector."""
    free = (models.TextField, models.JSONField, models.BinaryField, ArrayField, VectorField)
    return isinstance(field, free) or (isinstance(field, models.CharField) and not field.choices)
