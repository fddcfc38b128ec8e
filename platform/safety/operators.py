"""The group of operators: they may look at everything of Kith's, and delete what was said or remembered."""

from typing import Any

from django.apps import AppConfig
from django.contrib.auth.models import Group, Permission

from accounts.create_account import OPERATORS

APPS = frozenset({"accounts", "files", "safety", "memory", "companions", "voice"})
DELETABLE = ("delete_message", "delete_memory")


def grant_rights(sender: AppConfig, using: str, **kwargs: Any) -> None:
    """Give the group its rights after each migration, also on what is new. For fewer rights, make another group."""
    if sender.label not in APPS:
        return
    rights = Permission.objects.using(using).filter(content_type__app_label=sender.label)
    group, _ = Group.objects.using(using).get_or_create(name=OPERATORS)
    group.permissions.add(
        *rights.filter(codename__startswith="view_"), *rights.filter(codename__in=DELETABLE)
    )
