"""Which embedding space serves: the wanted one where all of a companion lies in it, until then the fullest older one."""

from dataclasses import dataclass
from time import monotonic
from typing import Any
from uuid import UUID

from django.db.models import Count

from memory.errors import WidestError
from memory.models import Embedding, Space
from memory.models.space import WIDEST
from providers.embedding import Embedder, get_embedder, get_embedders
from providers.embedding.embedder import Floats
from providers.errors import ProviderError

BELIEVED_SECONDS = 30.0  # for so long a process may not know of a space that another one made or removed
MOST_SETTLED = 100_000
TOLD = ("model", "query_prefix", "document_prefix", "query_fields", "document_fields")


@dataclass(frozen=True, slots=True)
class CueVector:
    """What a cue means: a vector of length 1, and the space in which alone it can be compared."""

    space: Space
    vector: Floats


class _Known:
    """What this process believes of the spaces; whom the wanted one serves once, it serves from then on."""

    def __init__(self) -> None:
        self.listed: tuple[list[Space], float] = ([], 0.0)  # until when
        self.silent: tuple[Embedder | None, float] = (None, 0.0)
        self.settled: set[tuple[int, UUID]] = set()


_known = _Known()


def look_anew() -> None:
    """Believe nothing of what this process knew of the spaces and their servers."""
    _known.listed, _known.silent = ([], 0.0), (None, 0.0)


def spaces() -> list[Space]:
    """All spaces, the newest first, as they were at most half a minute ago."""
    listed, until = _known.listed
    if monotonic() >= until:
        listed = list(Space.objects.order_by("-edition", "-pk"))
        _known.listed = listed, monotonic() + BELIEVED_SECONDS
    return listed


def wanted_space() -> Space | None:
    """The space of the embedder that the settings want, made when it is first asked; None where there is none.

    Raises ProviderError where its width must be asked and nobody answers, WidestError where it is beyond 16,000.
    """
    wanted = get_embedder()
    return (_found(wanted) or _first(wanted)) if wanted else None


def next_edition(space: Space, width: int) -> Space:
    """The space in which all is embedded again by the same model, which answers so wide now; WidestError."""
    again = {name: getattr(space, name) for name in (*TOLD, "max_tokens")}
    return _made({**again, "edition": space.edition + 1}, width)


def embedder_of(space: Space) -> Embedder | None:
    """Whom to ask for vectors of that space; None where the settings no longer name it."""
    return next(
        (one for one in get_embedders() if (one.model, one.profile) == (space.model, space.profile)), None
    )


def serving_space(companion_id: UUID | None = None) -> Space | None:
    """The space that the companion is recalled in; of no companion the wanted one; None where nothing can be asked.

    Of those spaces whose embedder can be asked it is the one in which most of the companion's memories are done;
    of equal ones the wanted one. No query where there is one space only, or where the wanted one served before.
    """
    wanted = known_wanted_space()
    older = [space for space in spaces() if space != wanted and _can_be_asked(space)]
    if companion_id is None or not older:
        return wanted
    if wanted and (wanted.pk, companion_id) in _known.settled:
        return wanted
    every = [wanted, *older] if wanted else older
    serving = _fullest(every, done(companion_id))
    if serving == wanted and wanted:
        _settle(wanted, companion_id)
    return serving


def done(companion_id: UUID) -> dict[int, int]:
    """How many of the companion's memories are embedded, or were refused, in each space by its id."""
    first = Embedding.objects.filter(companion_id=companion_id, window=0)
    return dict(first.order_by().values_list("space_id").annotate(count=Count("*")))


def served() -> dict[int, int]:
    """How many companions each space serves, by its id; a companion without any embedding counts for none."""
    wanted = known_wanted_space()
    every = [space for space in spaces() if space == wanted or _can_be_asked(space)]
    every.sort(key=lambda space: space != wanted)
    counted: dict[UUID, dict[int, int]] = {}
    first = Embedding.objects.filter(window=0).order_by()
    rows = first.values_list("companion_id", "space_id").annotate(count=Count("*"))
    for companion_id, space_id, count in rows:
        counted.setdefault(companion_id, {})[space_id] = count
    found: dict[int, int] = {}
    for one in counted.values():
        if every:
            serving = _fullest(every, one)
            found[serving.pk] = found.get(serving.pk, 0) + 1
    return found


def _fullest(every: list[Space], done: dict[int, int]) -> Space:
    return max(every, key=lambda space: done.get(space.pk, 0))  # of equal ones the first


def _settle(wanted: Space, companion_id: UUID) -> None:
    if len(_known.settled) >= MOST_SETTLED:
        _known.settled.clear()
    _known.settled.add((wanted.pk, companion_id))


def _can_be_asked(space: Space) -> bool:
    return space.answered_width is None and embedder_of(space) is not None


def known_wanted_space() -> Space | None:
    """The wanted space; None also where its server did not answer in the last half minute: nobody waits for it twice."""
    wanted, (silent, until) = get_embedder(), _known.silent
    if wanted is None or (wanted is silent and monotonic() < until):
        return None
    try:
        return wanted_space()
    except (ProviderError, WidestError):
        _known.silent = wanted, monotonic() + BELIEVED_SECONDS
        return None


def _found(wanted: Embedder) -> Space | None:
    """The embedder's newest space."""
    told = (wanted.model, wanted.profile)
    return next((space for space in spaces() if (space.model, space.profile) == told), None)


def _first(wanted: Embedder) -> Space:
    profile = {name: getattr(wanted.profile, name) for name in TOLD if name != "model"}
    told = {**profile, "model": wanted.model, "max_tokens": wanted.max_tokens, "edition": 1}
    return _made(told, wanted.width)


def _made(told: dict[str, Any], width: int) -> Space:
    if width > WIDEST:
        raise WidestError(told["model"], width, WIDEST)
    max_tokens = told.pop("max_tokens")
    space, _ = Space.objects.get_or_create(**told, defaults={"width": width, "max_tokens": max_tokens})
    _known.listed = [], 0.0
    return space
