"""What a companion knows of its user and thinks of itself: read, changed, compared and restored by its user."""

import html
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from companions.conversations.revisions import GONE, NEW, SAME, Piece, compare
from companions.memories.editing import write_revision
from companions.models import Companion
from memory.learning.revisions import add_revision
from memory.models import Revision
from memory.store import keep_fact, retract
from tests.fixtures.turns import make_companion
from tests.pages.conftest import Told

pytestmark = pytest.mark.usefixtures("module_mira")
PROFILE, SELF = Revision.About.USER_PROFILE, Revision.About.SELF_CONCEPT
BOTH = pytest.mark.parametrize(("about", "name"), [(PROFILE, "profile"), (SELF, "self-concept")])


def texts(companion: Companion, about: Revision.About = PROFILE) -> list[str]:
    """The sentences that hold."""
    holding = Revision.objects.of(companion.pk, about).first()
    return [one["text"] for one in holding.sentences] if holding else []


def written(companion: Companion, *revisions: list[str], about: Revision.About = PROFILE) -> None:
    for sentences in revisions:
        write_revision(companion, about, sentences, timezone.now())


def sent(text: str, number: int = 0) -> dict[str, str]:
    return {"text": text, "number": str(number)}


@BOTH
def test_with_nothing_yet_the_page_says_how_it_comes(
    at_home: Client, mira: Companion, about: str, name: str
) -> None:
    page = at_home.get(f"/companions/{mira.pk}/{name}/").content.decode()
    assert "Nothing yet." in page
    assert "Versions" not in page


def test_a_sentence_that_prompts_leave_out_says_so(at_home: Client, told: Told) -> None:
    now, source = timezone.now(), told.message.pk
    exam = keep_fact(told.companion.pk, "Alice has an exam on Friday.", now, now, [source])
    sentences = [{"text": text, "sources": [str(source)]} for text in ("Has an exam on Friday.", "Sings.")]
    add_revision(told.companion.pk, PROFILE, sentences, Revision.By.CLOSING, now)
    assert "No longer true" not in at_home.get(f"{told.path}profile/").content.decode()
    retract(exam, now + timedelta(days=7))
    page = at_home.get(f"{told.path}profile/").content.decode()
    assert page.count("No longer true") == 1
    assert "No longer true" in page.split("Has an exam on Friday.")[1].split("Sings.")[0]


@BOTH
def test_each_sentence_shows_what_it_comes_from(
    at_home: Client, told: Told, about: Revision.About, name: str
) -> None:
    sentences = [
        {"text": "Has an <exam>.", "sources": [str(told.message.pk), str(told.answer.pk)]},
        {"text": "Likes tea.", "sources": []},
    ]
    made = add_revision(told.companion.pk, about, sentences, Revision.By.CLOSING, timezone.now())
    Revision.objects.filter(pk=made.pk).update(is_stale=True)
    page = at_home.get(f"{told.path}{name}/").content.decode()
    for text in ("Has an &lt;exam&gt;.", "because you said on", "I have an exam on Friday"):
        assert text in page
    for text in ("because Mira said on", "no message behind it", "has been deleted", "at the end of a talk"):
        assert text in page


@BOTH
def test_it_is_written_and_changed_one_sentence_a_line(
    at_home: Client, mira: Companion, about: Revision.About, name: str
) -> None:
    path = f"/companions/{mira.pk}/{name}/"
    assert at_home.post(f"{path}edit/", sent("Likes tea.\r\n\r\n  Lives in Lisbon. "))["Location"] == path
    assert texts(mira, about) == ["Likes tea.", "Lives in Lisbon."]
    form = at_home.get(f"{path}edit/").content.decode()
    assert "Likes tea.\nLives in Lisbon." in form
    at_home.post(f"{path}edit/", sent("Likes coffee.", 1))
    assert texts(mira, about) == ["Likes coffee."]
    assert "written by you" in at_home.get(path).content.decode()
    other = SELF if about == PROFILE else PROFILE
    assert texts(mira, other) == []


def test_a_sentence_that_stays_keeps_what_it_comes_from(at_home: Client, told: Told) -> None:
    sentences = [{"text": "Has an exam.", "sources": [str(told.message.pk)]}]
    add_revision(told.companion.pk, PROFILE, sentences, Revision.By.CLOSING, timezone.now())
    at_home.post(f"{told.path}profile/edit/", sent("Has an exam.\nIs calm.", 1))
    newest = Revision.objects.of(told.companion.pk, PROFILE)[0]
    assert [one["sources"] for one in newest.sentences] == [[str(told.message.pk)], []]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "\n".join(f"Sentence {n}." for n in range(21)),
            "There are 21 sentences, but there is room for only 20.",
        ),
        ("Fine.\n" + "x" * 401, "Sentence 2 is 1 character too long"),
        ("a\x00b", "Null characters are not allowed."),
    ],
)
def test_what_is_too_much_comes_back_whole_with_why(
    at_home: Client, mira: Companion, text: str, said: str
) -> None:
    response = at_home.post(f"/companions/{mira.pk}/profile/edit/", sent(text))
    assert response.status_code == 422
    page = html.unescape(response.content.decode())
    assert said in page
    assert text.replace("\x00", "") in page.replace("\x00", "")
    assert not Revision.objects.exists()


def test_twenty_sentences_of_400_characters_fit(at_home: Client, mira: Companion) -> None:
    lines = [f"{n:02}" + "语" * 398 for n in range(20)]
    assert at_home.post(f"/companions/{mira.pk}/profile/edit/", sent("\r\n".join(lines))).status_code == 302
    assert texts(mira) == lines


def test_what_was_changed_meanwhile_is_not_overwritten_unseen(at_home: Client, mira: Companion) -> None:
    written(mira, ["Likes tea."], ["Likes coffee."])
    path = f"/companions/{mira.pk}/profile/edit/"
    response = at_home.post(path, sent("Likes milk.", 1))
    assert response.status_code == 422
    page = response.content.decode()
    assert "It was changed in the meantime." in page
    assert "Likes milk." in page
    assert texts(mira) == ["Likes coffee."]
    assert 'name="number" value="2"' in page
    assert at_home.post(path, sent("Likes milk.", 2)).status_code == 302


@pytest.mark.parametrize(("a", "b"), [(1, 3), (3, 1)])
def test_any_two_revisions_are_compared(at_home: Client, mira: Companion, a: int, b: int) -> None:
    written(mira, ["Likes green tea.", "Has a dog."], ["x"], ["Likes black tea.", "Lives here."])
    page = at_home.get(f"/companions/{mira.pk}/profile/compare/", {"a": a, "b": b}).content.decode()
    assert "Version 1 and version 3" in page
    assert '<del><span class="unseen">removed: </span>green' in page
    assert '<ins><span class="unseen">added: </span>black' in page
    assert page.count("<del>") == 2


@pytest.mark.parametrize(
    "query", ["?a=", "?a=1&b=9", "?a=x&b=1", "?a=-1&b=1", "?a=²&b=1", "?a=1&b=" + "9" * 30]
)
def test_what_cannot_be_compared_is_not_there(at_home: Client, mira: Companion, query: str) -> None:
    written(mira, ["Likes tea."])
    assert at_home.get(f"/companions/{mira.pk}/profile/compare/{query}").status_code == 404
    assert at_home.get(f"/companions/{mira.pk}/self-concept/compare/").status_code == 404


def test_the_last_two_are_compared_where_none_are_named(at_home: Client, mira: Companion) -> None:
    written(mira, ["a"], ["b"], ["c"])
    page = at_home.get(f"/companions/{mira.pk}/profile/compare/").content.decode()
    assert "Version 2 and version 3" in page


@BOTH
def test_any_revision_is_restored_after_a_word(
    at_home: Client, mira: Companion, about: Revision.About, name: str
) -> None:
    written(mira, ["Likes tea."], ["Likes coffee."], about=about)
    path = f"/companions/{mira.pk}/{name}/"
    assert "Restore version 1?" in at_home.get(f"{path}1/restore/").content.decode()
    assert texts(mira, about) == ["Likes coffee."]
    page = at_home.post(f"{path}1/restore/", follow=True).content.decode()
    assert texts(mira, about) == ["Likes tea."]
    assert "an earlier one, restored" in page
    assert Revision.objects.of(mira.pk, about).count() == 3


def test_another_companions_revision_is_not_there(at_home: Client, mira: Companion, tian: Companion) -> None:
    other = make_companion(mira.user, name="Other")
    written(other, ["a"], ["b"], ["c"])
    written(tian, ["a"])
    written(mira, ["Likes tea."])
    for method in (at_home.get, at_home.post):
        assert method(f"/companions/{mira.pk}/profile/3/restore/").status_code == 404
        assert method(f"/companions/{mira.pk}/self-concept/1/restore/").status_code == 404
        assert method(f"/companions/{tian.pk}/profile/1/restore/").status_code == 404
    assert at_home.get(f"/companions/{mira.pk}/profile/compare/?a=1&b=3").status_code == 404
    assert at_home.get(f"/companions/{tian.pk}/profile/").status_code == 404
    assert texts(mira) == ["Likes tea."]


def test_revisions_come_in_pages_and_cost_the_same(
    at_home: Client, mira: Companion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    now = timezone.now()
    for n in range(45):
        add_revision(
            mira.pk,
            PROFILE,
            [{"text": str(n), "sources": []}],
            Revision.By.CLOSING,
            now + timedelta(days=n),
        )
    found = []
    for page in (1, 2, 3):
        with django_assert_num_queries(6):  # session, user, companion, what holds, how many, revisions
            response = at_home.get(f"/companions/{mira.pk}/profile/", {"page": page})
        found += [one.number for one in response.context["revisions"]]
    assert found == list(range(45, 0, -1))


def test_sentences_that_are_alike_differ_by_words() -> None:
    assert compare(["I like green tea."], ["I like black tea."]) == [
        [Piece("I like ", SAME), Piece("green", GONE), Piece("black", NEW), Piece(" tea.", SAME)]
    ]
    assert compare(["我喜欢绿茶。"], ["我喜欢红茶。"]) == [
        [Piece("我喜欢", SAME), Piece("绿", GONE), Piece("红", NEW), Piece("茶。", SAME)]
    ]


def test_sentences_that_are_not_alike_stand_apart() -> None:
    assert compare(["Has a dog.", "Same."], ["Same.", "Lives far away now."]) == [
        [Piece("Has a dog.", GONE)],
        [Piece("Same.", SAME)],
        [Piece("Lives far away now.", NEW)],
    ]
    assert compare([], []) == []
    assert compare(["a"], []) == [[Piece("a", GONE)]]
