"""What a model is shown of the gists that may answer a question. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

from companions.tools.bounds import fitting, weight
from memory.documents.lookup import MAX_PAGES, LookedUp

GISTS_TOKENS = 4000
SHARE = 2  # of the room, what gists take where a whole page fits beside them


@dataclass(frozen=True, slots=True)
class Survey:
    """Gists in the order of reading, and the texts of the best pages, as a model is given them; `shown` stand in them."""

    gists: list[dict[str, Any]]
    pages: list[dict[str, Any]]
    shown: list[LookedUp]


def survey(ranked: Sequence[LookedUp], zone: tzinfo, tokens: int) -> Survey:
    """As many gists of the ranked as fit, the best first, and at most six of the best pages that fit whole beside them.

    Gists take half of the tokens, but all where no page would fit beside them; 4,000 at most.
    """
    gists = fitting([_gist(one, zone) for one in ranked], min(tokens // SHARE, GISTS_TOKENS))
    pages = _whole(ranked, tokens - weight(gists))
    if not pages:
        gists = fitting([_gist(one, zone) for one in ranked], min(tokens, GISTS_TOKENS))
    order = sorted(range(len(gists)), key=lambda at: ranked[at].memory.happened_at)
    shown = [*ranked[: len(gists)], *(one for one in pages if one not in ranked[: len(gists)])]
    return Survey([gists[at] for at in order], [_page(one) for one in pages], shown)


def _whole(ranked: Sequence[LookedUp], tokens: int) -> list[LookedUp]:
    """The best pages as long as they fit; no page is left out for a shorter one that is worse."""
    kept: list[LookedUp] = []
    for one in [one for one in ranked if one.page][:MAX_PAGES]:
        tokens -= weight(_page(one))
        if tokens < 0:
            break
        kept.append(one)
    return kept


def _gist(one: LookedUp, zone: tzinfo) -> dict[str, Any]:
    if one.page:
        return {"document": one.title, "page": one.page.number, "text": one.memory.text}
    began = one.entry.started_at if one.entry else one.memory.happened_at
    return {"day": f"{began.astimezone(zone):%Y-%m-%d}", "title": one.title, "text": one.memory.text}


def _page(one: LookedUp) -> dict[str, Any]:
    return {"document": one.title, "page": one.page.number, "text": one.page.text} if one.page else {}
