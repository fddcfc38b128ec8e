"""The texts of a companion's character: try them out before they are saved, and list and restore their versions."""

from contextlib import aclosing
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone
from ninja import Field, Router, Schema, Status

from accounts.authentication import SignedInRequest
from accounts.limits import admission
from companions import access, character_versions
from companions.api.companions import COMPANION, CharacterPatch, CompanionOut
from companions.api.schemas import FoundOut, ListOut, Text, explain_recalled
from companions.errors import TrialError
from companions.events import describe_failure
from companions.models import Companion
from companions.replies.trial import Trial, begin_trial, stream_trial
from jobs.background import in_thread
from providers.chat.events import Retracted
from providers.errors import ProviderError

router = Router(tags=["companions"])
VERSION = COMPANION + "/versions/{uuid:version_id}"


class TrialIn(CharacterPatch):
    text: Text = Field(description="A message that the user might send.")


class FeltOut(Schema):
    at: int = Field(description="The offset in the text, in characters, from which the emotion applies.")
    emotion: str
    intensity: float


class TrialOut(Schema):
    text: str
    emotions: list[FeltOut]
    recalled: list[FoundOut] = Field(
        description="The memories that were recalled, as in a conversation. This recall is not recorded."
    )
    model: str
    is_rehearsed: bool = Field(
        description="Whether Kith's rehearsal model answered, which is not a language model."
    )


class VersionOut(Schema):
    id: UUID
    number: int
    changed: list[str] = Field(
        description="The fields that were altered by the change that ended this version."
    )
    changed_by: str = Field(description="What made that change: `page`, `api`, `restore` or `other`.")
    changed_at: datetime = Field(description="When that change was made: this version applied until then.")
    texts: dict[str, Any]


class VersionsOut(ListOut[VersionOut]):
    pass


@router.post(
    COMPANION + "/try",
    response=TrialOut,
    operation_id="try_character",
    summary="Preview how the companion would answer with these texts; nothing is saved",
)
async def try_character(request: SignedInRequest, companion_id: UUID, body: TrialIn) -> dict[str, object]:
    def begin() -> Trial:
        companion = access.get_companion(request.user, companion_id)
        for name, value in body.dict(exclude_none=True, exclude={"text"}).items():
            setattr(companion, name, value)
        return begin_trial(companion, body.text.strip(), timezone.now())

    try:
        trial = await in_thread(begin)
        await admission.take("streams")
        admission.step_aside()
        return await _answer(trial)
    except ProviderError as error:
        raise TrialError(error.code, describe_failure(error.code)) from error


async def _answer(trial: Trial) -> dict[str, object]:
    """Return the fields of `TrialOut` once the answer is complete; raise ProviderError if the model fails."""
    texts: list[str] = []
    emotions: list[dict[str, object]] = []
    async with aclosing(stream_trial(trial, timezone.now)) as parts:
        async for part in parts:
            if isinstance(part, str):
                texts.append(part)
            elif isinstance(part, Retracted):
                texts.clear()
                emotions.clear()
            else:
                emotions.append(part.row())
    provider = trial.providers[0]
    return {
        "text": "".join(texts).strip(),
        "emotions": emotions,
        "recalled": await in_thread(explain_recalled, trial.found, trial.companion.user),
        "model": provider.model,
        "is_rehearsed": provider.is_rehearsal,
    }


@router.get(
    COMPANION + "/versions",
    response=VersionsOut,
    operation_id="list_character_versions",
    summary="List the earlier versions of the character's texts, newest first; at most a hundred",
)
def list_character_versions(request: SignedInRequest, companion_id: UUID) -> dict[str, object]:
    companion = access.get_companion(request.user, companion_id)
    return {"items": list(companion.versions.all()), "next": None}


@router.delete(
    VERSION,
    response={204: None},
    operation_id="delete_character_version",
    summary="Permanently delete a version",
)
def delete_character_version(request: SignedInRequest, companion_id: UUID, version_id: UUID) -> Status[None]:
    access.get_character_version(request.user, companion_id, version_id).delete()
    return Status(204, None)


@router.post(
    VERSION + "/restore",
    response=CompanionOut,
    operation_id="restore_character_version",
    summary="Restore a version's texts; the current texts are saved as a version",
)
def restore_character_version(request: SignedInRequest, companion_id: UUID, version_id: UUID) -> Companion:
    version = access.get_character_version(request.user, companion_id, version_id)
    character_versions.restore_version(version.companion, version, timezone.now())
    return access.get_companion(request.user, companion_id)
