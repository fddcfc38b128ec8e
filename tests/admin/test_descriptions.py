"""Operators read names and words: no raw ids as titles, no codes as values, no English in Chinese."""

import re
from datetime import UTC, datetime

import pytest
from django.contrib import admin
from django.contrib.admin.utils import label_for_field
from django.template.defaultfilters import floatformat
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.formats import date_format

from accounts.models import ModelCall, User
from safety.admin import code_column
from safety.descriptions import describe_code, describe_model, describe_table, render_data
from tests.admin.conftest import Scene
from tests.admin.walk import ALL, MARKER, PRIVATE, listing, page

ROOMS = {"accounts", "files", "safety", "memory", "companions", "voice", "push", "providers"}
# Names of what bears no other name in any language.
SAME_EVERYWHERE = {"sha256"}


@pytest.mark.django_db
def test_no_page_is_called_by_an_id(scene: Scene, olive: User) -> None:
    request = RequestFactory().get("/")
    olive.is_superuser, request.user = True, olive
    for model in PRIVATE:
        its_admin = admin.site._registry[model]
        thing = its_admin.get_queryset(request).first()
        for title in (its_admin.entitle(thing), its_admin.call(thing)):  # type: ignore[attr-defined]
            assert title, model
            assert str(thing.pk) not in title or len(str(thing.pk)) < 8, (model, title)  # type: ignore[union-attr]
        assert MARKER not in its_admin.call(thing), model  # type: ignore[attr-defined]


def test_json_is_shown_as_a_list_and_never_as_markup() -> None:
    shown = render_data({"under_way": "<b>", "evidence": [1, True, None, 0.123456]})
    assert "<b>" not in shown
    assert "<dt>under way</dt><dd>&lt;b&gt;</dd>" in shown
    assert "<li>1</li><li>Yes</li><li>–</li><li>0.1235</li>" in shown
    assert str(render_data({})) == "–"


def test_json_of_any_depth_is_shown() -> None:
    nested: object = "end"
    for _depth in range(500):
        nested = [nested]
    assert "end" in render_data(nested)


def test_a_code_is_said_in_words_and_one_that_is_unknown_in_its_own() -> None:
    row = type("Row", (), {"error": "provider_unavailable"})()
    assert code_column("error", "error")(row) == "the model could not be reached"
    assert describe_code("status_502") == "status 502"
    assert (describe_model("memory.Slot"), describe_model("gone.Model")) == ("slot", "gone.Model")
    assert (describe_table("memory_slot"), describe_table("gone")) == ("slot", "gone")


def test_every_column_and_field_has_a_name_in_chinese() -> None:
    english = []
    with translation.override("zh-hans"):
        for model in ALL:
            its_admin = admin.site._registry[model]
            if model._meta.app_label not in ROOMS:
                continue
            for field in (*its_admin.list_display, *(its_admin.fields or ())):
                label = str(label_for_field(field, model, its_admin))  # type: ignore[arg-type]
                if field not in {"id", "__str__"} and re.fullmatch(r"[\x00-\x7f]+", label):
                    english.append(f"{model._meta.label}.{field}: {label}")
    assert [told for told in english if told.split(": ")[1] not in SAME_EVERYWHERE] == []


def test_django_has_nothing_to_say_of_the_admin() -> None:
    # `manage.py check` may come to it before the admin's modules are loaded.
    assert admin.site.check(None) == []


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_large_numbers_have_commas_in_each_language(language: str) -> None:
    with translation.override(language):
        assert floatformat(1284000, "0g") == "1,284,000"


def test_dates_in_the_admin_are_written_as_on_other_pages() -> None:
    with translation.override("en"):
        at = datetime(2026, 11, 29, 22, 24, tzinfo=UTC)
        assert date_format(at, "DATETIME_FORMAT") == "29 November 2026, 22:24"


def test_every_search_says_what_it_finds() -> None:
    pages = (admin.site._registry[model] for model in ALL)
    assert [page for page in pages if page.search_fields and not page.search_help_text] == []


def test_no_is_a_word_and_no_alarm(desk: Client, scene: Scene) -> None:
    _, text = desk.get(listing(User)).content.decode().split('id="result_list"')
    assert 'aria-label="Yes"' in text
    assert 'aria-label="No"' in text
    assert "bg-red-100" not in text


def test_numbers_of_lists_and_of_the_day_have_commas(desk: Client, scene: Scene) -> None:
    tokens = {"prompt_tokens": 1_284_000, "cached_tokens": 1_283_000}
    ModelCall.objects.filter(pk=scene.call.pk).update(**tokens, started_at=timezone.now())
    for address in (listing(ModelCall), page(scene.call)):
        assert "1,284,000" in desk.get(address).content.decode()
    assert "1,283,000 from the cache" in desk.get(reverse("admin:index")).content.decode()
