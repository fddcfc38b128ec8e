"""What a user may see in the gallery: Kith's own characters, and approved ones that are rated for the user's age."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from django.conf import settings
from django.db.models import Prefetch, Q, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.translation import get_language

from accounts.models import User
from cards.lorebooks import normalise_book
from cards.schema import CARD, normalise
from companions.characters import Character, load_characters
from companions.face.portraits import Features, draw_features
from companions.models import CardUpload, GalleryCharacter, GalleryReport, GalleryVersion
from companions.models.gallery import AGES, LANGUAGES
from companions.transfer.card_preview import CardPreview, describe
from text.strings import folded

KITH = uuid5(NAMESPACE_URL, "kith:characters")
OWN_LANGUAGES = {"en": "en", "zh": "zh-hans"}  # of Kith's own characters: the gallery's code, and Django's
KITH_LICENCE = "Apache-2.0"  # the licence of Kith itself
MAX_QUESTION_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class Question:
    """A search of the gallery; an empty field matches everything."""

    text: str = ""
    tag: str = ""
    language: str = ""
    rating: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryEntry:
    """A character as the gallery shows it: one of Kith's own (`character`), or a `version` that a user published."""

    id: UUID
    name: str
    line: str
    summary: str
    tags: Sequence[str]
    language: str
    licence: str
    rating: str
    tint: int
    seed: int
    published_as: str = ""  # empty for Kith's own
    number: int = 1
    published_at: datetime | None = None
    chosen: Mapping[str, str] = field(default_factory=dict)
    character: Character | None = None
    version: GalleryVersion | None = None

    @property
    def features(self) -> Features:
        return draw_features(self.seed).with_choices(self.chosen)

    @property
    def language_name(self) -> str:
        return dict(LANGUAGES).get(self.language, self.language)

    @property
    def licence_name(self) -> str:
        return str(dict(GalleryVersion.Licence.choices).get(self.licence, self.licence))

    @property
    def rating_name(self) -> str:
        return str(GalleryVersion.Rating(self.rating).label)


# -- search -----------------------------------------------------------------------------------------


def require_open() -> None:
    """Raise Http404 if the gallery is switched off in the settings."""
    if not settings.GALLERY:
        raise Http404


def list_ratings(user: User) -> list[GalleryVersion.Rating]:
    """Return the ratings that the user is old enough to see."""
    return [rating for rating, age in AGES.items() if user.is_at_least(age)]


def list_visible(user: User) -> QuerySet[GalleryVersion]:
    """Return the approved versions that the user is old enough to see, but not those of closed accounts."""
    approved = GalleryVersion.objects.filter(
        state=GalleryVersion.State.APPROVED, character__user__is_active=True
    )
    return approved.filter(rating__in=list_ratings(user))


def find_versions(user: User, question: Question) -> QuerySet[GalleryVersion]:
    """Return the visible versions that match the question, with the cards deferred."""
    found = list_visible(user).filter(Q(language=question.language) if question.language else Q())
    if question.rating:
        found = found.filter(rating=question.rating)
    if question.tag:
        found = found.filter(tags__contains=[question.tag])
    for word in question.text.split():
        stands = Q(tags__contains=[word])
        for name in ("name", "line", "summary", "published_as"):
            stands |= Q(**{f"{name}__icontains": word})
        found = found.filter(stands)
    return found.defer("content")


def find_own(question: Question) -> list[GalleryEntry]:
    """Return Kith's own characters that match the question, in its language or else in the active one."""
    if question.rating not in {"", GalleryVersion.Rating.EVERYONE}:
        return []
    if question.language not in {"", *OWN_LANGUAGES}:
        return []
    language = OWN_LANGUAGES.get(question.language or (get_language() or "en").split("-")[0], "en")
    entries = [_make_own_entry(character, language) for character in load_characters(language)]
    words = folded(question.text).split()
    return [
        entry
        for entry in entries
        if (not question.tag or question.tag in entry.tags)
        and all(
            any(word in folded(text) for text in (entry.name, entry.line, entry.summary, *entry.tags))
            for word in words
        )
    ]


def list_tags(entries: Iterable[GalleryEntry]) -> list[str]:
    """Return the distinct tags of these entries, the most frequent first."""
    counts = Counter(tag for entry in entries for tag in entry.tags)
    return sorted(counts, key=lambda tag: (-counts[tag], tag))


# -- one character ----------------------------------------------------------------------------------


def find_entry(user: User, character_id: UUID) -> GalleryEntry:
    """Return the entry of Kith's own character, or of the approved version that the user may see.

    If there is none, the publisher gets the newest version, whatever its state, and others Http404.
    """
    for language in OWN_LANGUAGES.values():
        for character in load_characters(language):
            if _make_id(character, language) == character_id:
                return _make_own_entry(character, language)
    version = list_visible(user).select_related("character").filter(character=character_id).first()
    if version is None:
        own = GalleryVersion.objects.owned_by(user).select_related("character").filter(character=character_id)
        version = get_object_or_404(own.order_by("-number")[:1])
    return make_entry(version)


def list_published(user: User) -> QuerySet[GalleryCharacter]:
    """Return the user's published characters, with their versions prefetched newest first, cards deferred."""
    versions = GalleryVersion.objects.defer("content").order_by("-number")
    return GalleryCharacter.objects.owned_by(user).prefetch_related(Prefetch("versions", versions))


def get_published(user: User, character_id: UUID) -> GalleryCharacter:
    """Return the user's published character. Raise Http404 if it does not exist or is someone else's."""
    return get_object_or_404(GalleryCharacter.objects.owned_by(user), pk=character_id)


def get_picture(user: User, version_id: UUID) -> GalleryVersion:
    """Return the version with its picture, if it is the user's own or visible to the user. Raise Http404 otherwise."""
    visible = Q(pk__in=list_visible(user).values("pk")) | Q(character__user=user)
    return get_object_or_404(GalleryVersion.objects.filter(visible).select_related("picture"), pk=version_id)


def list_history(entry: GalleryEntry) -> list[GalleryVersion]:
    """Return the approved version of the entry's character, if any, and those that a newer one replaced, newest first.

    Versions that were withdrawn or taken down are left out. Kith's own characters have none.
    """
    if entry.version is None:
        return []
    states = (GalleryVersion.State.APPROVED, GalleryVersion.State.REPLACED)
    seen = GalleryVersion.objects.filter(character=entry.id, state__in=states)
    return list(seen.defer("content").order_by("-number"))


def is_open_to_report(user: User, entry: GalleryEntry) -> bool:
    """Return whether the user may report the entry: it is another user's, and they have no open report of it."""
    if entry.version is None or entry.version.character.user_id == user.pk:
        return False
    open_reports = GalleryReport.objects.owned_by(user).filter(settled_at=None)
    return not open_reports.filter(character=entry.id).exists()


# -- presentation -----------------------------------------------------------------------------------


def make_entry(version: GalleryVersion) -> GalleryEntry:
    """Return the entry that shows the version."""
    return GalleryEntry(
        id=version.character_id,
        name=version.name,
        line=version.line,
        summary=version.summary,
        tags=version.tags,
        language=version.language,
        licence=version.licence,
        rating=version.rating,
        tint=version.tint,
        seed=version.seed,
        chosen=version.chosen,
        published_as=version.published_as,
        number=version.number,
        published_at=version.decided_at if version.state == GalleryVersion.State.APPROVED else None,
        version=version,
    )


def compose_card(entry: GalleryEntry) -> dict[str, Any]:
    """Return the entry's V3 card."""
    if entry.version is not None:
        content: dict[str, Any] = entry.version.content
        return content
    character = entry.character
    assert character is not None  # noqa: S101 - it is one or the other
    data: dict[str, Any] = {
        "name": character.name,
        "description": character.persona,
        "first_mes": character.greetings[0],
        "alternate_greetings": list(character.greetings[1:]),
        "mes_example": character.example_dialogue,
        "creator": "Kith",
        "tags": list(character.tags),
    }
    if character.lorebook:
        data["character_book"] = normalise_book(dict(character.lorebook))
    return normalise({"spec": CARD, "spec_version": "3.0", "data": data})[0]


def preview(card: Mapping[str, Any], name: str = "{{user}}") -> CardPreview:
    """Return a readable preview of the whole card, hidden parts included; `name` replaces {{user}}."""
    form, version = CardUpload.Form.JSON, CardUpload.Version.V3
    return describe(CardUpload(user=User(name=name), content=dict(card), form=form, version=version))


def _make_id(character: Character, language: str) -> UUID:
    return uuid5(KITH, f"{character.slug} {language}")


def _make_own_entry(character: Character, language: str) -> GalleryEntry:
    return GalleryEntry(
        id=_make_id(character, language),
        name=character.name,
        line=character.line,
        summary=character.kind,
        tags=character.tags,
        language=language.split("-")[0],
        licence=KITH_LICENCE,
        rating=GalleryVersion.Rating.EVERYONE,
        tint=character.tint,
        seed=character.face,
        character=character,
    )
