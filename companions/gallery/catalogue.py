"""What somebody may see in the gallery: Kith's own characters first, then what operators approved, by their age."""

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
OWN_LANGUAGES = {"en": "en", "zh": "zh-hans"}  # in which Kith's own are written, by what the gallery calls it
KITH_LICENCE = "Apache-2.0"  # that of all of Kith
MAX_QUESTION_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class Question:
    """What of the gallery is asked for; empty is all."""

    text: str = ""
    tag: str = ""
    language: str = ""
    rating: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryEntry:
    """A character as the gallery shows it: one of Kith's own, `character`, or somebody's, of which it is a `version`."""

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


# -- which ------------------------------------------------------------------------------------------


def require_open() -> None:
    """Raise Http404 where the operators have closed the gallery."""
    if not settings.GALLERY:
        raise Http404


def list_ratings(user: User) -> list[GalleryVersion.Rating]:
    """Return the ratings of what the person may see."""
    return [rating for rating, age in AGES.items() if user.is_at_least(age)]


def list_visible(user: User) -> QuerySet[GalleryVersion]:
    """Return the approved versions that the person may see."""
    return GalleryVersion.objects.filter(state=GalleryVersion.State.APPROVED, rating__in=list_ratings(user))


def find_versions(user: User, question: Question) -> QuerySet[GalleryVersion]:
    """Return what is asked for of other people's characters, without their cards."""
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
    """Return what is asked for of Kith's own characters, in that language or else in the active one."""
    if question.rating not in {"", GalleryVersion.Rating.EVERYONE}:
        return []
    if question.language not in {"", *OWN_LANGUAGES}:
        return []
    language = OWN_LANGUAGES.get(question.language or (get_language() or "en").split("-")[0], "en")
    entries = [_entry_of_own(character, language) for character in load_characters(language)]
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
    """Return the tags of these, each once, those of many first."""
    counts: dict[str, int] = {}
    for entry in entries:
        for tag in entry.tags:
            counts[tag] = counts.get(tag, 0) + 1
    return sorted(counts, key=lambda tag: (-counts[tag], tag))


# -- one of them ------------------------------------------------------------------------------------


def find_entry(user: User, character_id: UUID) -> GalleryEntry:
    """Return the character as the person sees it; Http404 where it is not there for them.

    Its publisher sees the newest version where none is approved, whatever became of it.
    """
    for language in OWN_LANGUAGES.values():
        for character in load_characters(language):
            if _id_of(character, language) == character_id:
                return _entry_of_own(character, language)
    version = list_visible(user).select_related("character").filter(character=character_id).first()
    if version is None:
        own = GalleryVersion.objects.owned_by(user).select_related("character").filter(character=character_id)
        version = get_object_or_404(own.order_by("-number")[:1])
    return entry_of(version)


def list_published(user: User) -> QuerySet[GalleryCharacter]:
    """Return what the person has published, with its versions, the newest first, but not their cards."""
    versions = GalleryVersion.objects.defer("content").order_by("-number")
    return GalleryCharacter.objects.owned_by(user).prefetch_related(Prefetch("versions", versions))


def get_published(user: User, character_id: UUID) -> GalleryCharacter:
    """Return a character that the person has published; Http404."""
    return get_object_or_404(GalleryCharacter.objects.owned_by(user), pk=character_id)


def get_picture(user: User, version_id: UUID) -> GalleryVersion:
    """Return the version whose picture the person may see; Http404."""
    visible = Q(pk__in=list_visible(user).values("pk")) | Q(character__user=user)
    return get_object_or_404(GalleryVersion.objects.filter(visible).select_related("picture"), pk=version_id)


def list_history(entry: GalleryEntry) -> list[GalleryVersion]:
    """Return the versions that are or were to be seen, the newest first."""
    if entry.version is None:
        return []
    states = (GalleryVersion.State.APPROVED, GalleryVersion.State.REPLACED)
    seen = GalleryVersion.objects.filter(character=entry.id, state__in=states)
    return list(seen.defer("content").order_by("-number"))


def is_open_to_report(user: User, entry: GalleryEntry) -> bool:
    """Return whether the person may report it: somebody else's, that they have not reported yet."""
    if entry.version is None or entry.version.character.user_id == user.pk:
        return False
    open_reports = GalleryReport.objects.owned_by(user).filter(settled_at=None)
    return not open_reports.filter(character=entry.id).exists()


# -- how it is shown --------------------------------------------------------------------------------


def entry_of(version: GalleryVersion) -> GalleryEntry:
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
    """Return the character's card."""
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
    """Return all that the card holds, hidden parts too, in plain words; `name` is whoever would talk with it."""
    form, version = CardUpload.Form.JSON, CardUpload.Version.V3
    return describe(CardUpload(user=User(name=name), content=dict(card), form=form, version=version))


def _id_of(character: Character, language: str) -> UUID:
    return uuid5(KITH, f"{character.slug} {language}")


def _entry_of_own(character: Character, language: str) -> GalleryEntry:
    return GalleryEntry(
        id=_id_of(character, language),
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
