"""Headers and queries that several operations take."""

from typing import Annotated

from ninja.params import functions as P

IdempotencyKey = Annotated[str | None, P.Header(alias="Idempotency-Key")]
Accept = Annotated[str, P.Header(alias="Accept")]
WaitSeconds = Annotated[int, P.Query(ge=0, le=300, description="Seconds to wait for the answer.")]
WithMessage = Annotated[bool, P.Query(description="Delete the message it came from, too.")]
