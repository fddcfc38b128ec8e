"""The operators' pages, for bench/screenshots/seed.py: the list of every table, and one row of each that has one."""

from datetime import datetime, timedelta

from django.contrib import admin
from django.urls import reverse

from accounts.models import ModelCall, User
from accounts.signup import create_account
from providers.models import Provider


def operator(password: str, language: str) -> None:
    """Whoever looks at them: an account that may open all."""
    create_account(
        "operator@example.org", password, name="Ada", is_staff=True, is_superuser=True, language=language
    )


def provider(person: User, now: datetime) -> None:
    """A provider with prices, and what a day of it took."""
    row = Provider.objects.create(
        name="Hosted",
        base_url="https://llm.example/v1",
        model="large",
        prompt_price="0.5",
        completion_price=2,
    )
    ModelCall.objects.bulk_create(
        ModelCall(
            user=person,
            purpose="answer",
            provider=row.base_url,
            model=row.model,
            outcome="unavailable" if number % 9 == 0 else "done",
            prompt_tokens=2_000 + 100 * number,
            completion_tokens=150 + 10 * number,
            milliseconds=1_500 + 97 * (number % 13) ** 2,
            started_at=now - timedelta(minutes=11 * number),
        )
        for number in range(120)
    )


def admin_pages() -> dict[str, str]:
    """Their addresses by names that begin with `admin`."""
    person = User.objects.filter(companions__isnull=False).order_by("pk").first()
    pages = {
        "admin-today": reverse("admin:index"),
        "admin-which-mind": reverse("admin:mind"),
        "admin-sound": reverse("admin:sound"),
        "admin-person": reverse("admin:accounts_user_change", args=[person.pk if person else 0]),
    }
    for model in admin.site._registry:
        name = f"{model._meta.app_label}_{model._meta.model_name}"
        short = f"admin-{model._meta.model_name}"
        pages[short] = reverse(f"admin:{name}_changelist")
        if first := model._default_manager.order_by("-pk").first():
            pages[f"{short}-one"] = reverse(f"admin:{name}_change", args=[first.pk])
    return pages
