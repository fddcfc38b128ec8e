"""The operators' pages, for bench/screenshots/seed.py: the list of every table, and one row of each that has one."""

from django.contrib import admin
from django.urls import reverse

from accounts.signup import create_account


def operator(password: str, language: str) -> None:
    """Whoever looks at them: an account that may open all."""
    create_account(
        "operator@example.org", password, name="Ada", is_staff=True, is_superuser=True, language=language
    )


def admin_pages() -> dict[str, str]:
    """Their addresses by names that begin with `admin`."""
    pages = {"admin": reverse("admin:index"), "admin-mind": reverse("admin:mind")}
    for model in admin.site._registry:
        name = f"{model._meta.app_label}_{model._meta.model_name}"
        short = f"admin-{model._meta.model_name}"
        pages[short] = reverse(f"admin:{name}_changelist")
        if first := model._default_manager.order_by("-pk").first():
            pages[f"{short}-one"] = reverse(f"admin:{name}_change", args=[first.pk])
    return pages
