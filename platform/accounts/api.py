"""REST endpoints of a person's own account: name, self-description, time zone and language."""

from typing import Annotated

from django.conf import settings
from ninja import Field, Router, Schema
from pydantic import AfterValidator, StringConstraints

from accounts.authentication import SignedInRequest
from accounts.models import User
from accounts.models.user import list_time_zones
from text.strings import check_storable

router = Router(tags=["me"])


def _check_zone(name: str) -> str:
    if name not in list_time_zones():
        raise ValueError("is no time zone that this server knows")
    return name


def _check_language(code: str) -> str:
    if code and code not in dict(settings.LANGUAGES):
        raise ValueError("is no language of Kith's pages")
    return code


Name = Annotated[str, StringConstraints(strip_whitespace=True, max_length=80), AfterValidator(check_storable)]
About = Annotated[str, StringConstraints(max_length=2_000), AfterValidator(check_storable)]


class MeOut(Schema):
    email: str
    name: str
    about: str
    time_zone: str
    language: str


class MePatch(Schema):
    name: Name | None = Field(None, description="What your companions call you.")
    about: About | None = Field(
        None, description="Who you are, in your own words; your companions read this."
    )
    time_zone: Annotated[str, AfterValidator(_check_zone)] | None = None
    language: Annotated[str, AfterValidator(_check_language)] | None = None


@router.get("/me", response=MeOut, operation_id="get_me", summary="Get my account")
def get_me(request: SignedInRequest) -> User:
    return request.user


@router.patch(
    "/me",
    response=MeOut,
    operation_id="change_me",
    summary="Change my name, self-description, time zone or language",
)
def change_me(request: SignedInRequest, body: MePatch) -> User:
    changes = body.dict(exclude_none=True)
    for name, value in changes.items():
        setattr(request.user, name, value)
    request.user.save(update_fields=list(changes))
    return request.user
