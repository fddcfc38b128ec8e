"""The five places of a companion: every page belongs to one of them, and says which."""

import re

import pytest
from django.test import Client

from companions.models import Companion
from companions.pages.navigation import PLACES, find_place
from tests.pages.conftest import Told
from tests.pages.test_page_access import IN_THREADS, PAGES, POST_ONLY

# What is given to scripts or as a file, and is no page.
PARTS = {
    *("turns", "turn", "gauge", "closing", "timer_preview", "face_preview", "face_image"),
    *("companion_export", "companion_export_digital_life", "companion_export_card"),
    "companion_export_archive",
    "lorebook_export",
}
SHOWN = sorted(set(PAGES) - POST_ONLY - PARTS - IN_THREADS)
LABORATORY = re.compile(
    r"slot|block|cron|half-life|cosine|consolidat|reflection|threshold|token|embedding|revision|槽|半衰|余弦",
    re.IGNORECASE,
)


def links(page: str, nav: str) -> dict[str, str]:
    """The last words of each link in the navigation of this class, with its aria-current, or nothing."""
    part = page.split(f'<nav class="{nav}"')[1].split("</nav>")[0]
    found = {}
    for tag, inner in re.findall(r"<a (.*?)>(.*?)</a>", part, re.DOTALL):
        words = re.findall(r"([^<>]+)(?:</span>)?$", inner)[-1]
        found[words] = tag.split('aria-current="')[1].split('"')[0] if "aria-current" in tag else ""
    return found


def test_every_page_belongs_to_one_place() -> None:
    listed = [page for place in PLACES for tab in place.tabs for page in (tab.page, *tab.below)]
    assert len(listed) == len(set(listed))
    assert set(SHOWN) - set(listed) == set(), (
        "give each its place in PLACES (companions/pages/navigation.py), or see PARTS"
    )
    assert set(listed) - set(PAGES) == set()


@pytest.mark.usefixtures("speech_rehearsal")
def test_each_page_shows_where_one_is(at_home: Client, told: Told) -> None:
    for name in SHOWN:
        page = at_home.get(PAGES[name](told)).content.decode()
        if name == "call":  # nothing but the call
            continue
        found = find_place(name)
        assert found, name
        shown = links(page, "places")
        assert len(shown) == 5, name
        assert [label for label, current in shown.items() if current] == [
            str(found[0].label).replace("{name}", "Mira")
        ], name
        if len(found[0].tabs) > 1:
            assert sum(map(bool, links(page, "tabs").values())) == 1, name


def test_the_list_of_companions_has_its_turn_where_it_is_seen(at_home: Client, mira: Companion) -> None:
    page = at_home.get(f"/companions/{mira.pk}/").content.decode()
    assert page.index('class="skip') < page.index('class="beside-list"') < page.index('<header class="top')
    assert page.index('<header class="top') < page.index("<main")


def test_a_name_is_never_markup(at_home: Client, mira: Companion) -> None:
    mira.name = "<b>{name}</b>"
    mira.save()
    page = at_home.get(f"/companions/{mira.pk}/about/").content.decode()
    assert "<b>" not in page
    assert "About &lt;b&gt;{name}&lt;/b&gt;" in page


def test_places_and_pages_have_names_that_everybody_knows(at_home: Client, mira: Companion) -> None:
    names: list[str] = []
    for place in PLACES:
        for tab in place.tabs:
            names += [str(place.label), str(tab.label)]
    assert not LABORATORY.search(" ".join(names))
    path = f"/companions/{mira.pk}/"
    for page in (
        "",
        "about/",
        "memories/",
        "always/",
        "nights/",
        "diary/",
        "timers/",
        "pursuits/",
        "life/settings/",
    ):
        words = re.sub(
            r"<script.*?</script>|<[^>]*>", " ", at_home.get(path + page).content.decode(), flags=re.S
        )
        assert not LABORATORY.search(words), (page, LABORATORY.search(words))
