"""The part of `look_up` that reads documents: the gists that may answer a question, and pages by their numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from time import perf_counter
from typing import Any

from companions.tools.bounds import fitting, room, shortened, weight
from companions.tools.provenance import show
from companions.tools.tool import ToolContext, ToolError
from memory.documents.lookup import MAX_PAGES, LookedUp, Question, find_gists, find_pages, load_titles
from memory.embedding import embed_cue
from memory.models import Page
from memory.recall.recall import Found

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


def by_question(context: ToolContext, question: str, document: str, now: datetime) -> dict[str, Any]:
    """The gists that may answer it, as many as fit, and the best pages beside them; of one document where it is named."""
    began, companion = perf_counter(), context.companion
    asked = Question(
        text=question,
        now=now,
        zone=companion.user.zone,
        vector=embed_cue(question, context.payer, companion.names),
        names=companion.names,
    )
    every = load_titles(companion.pk, find_gists(companion.pk, asked))
    title = document.strip().casefold()
    mine = [one for one in every if not title or one.title.casefold() == title]
    found = survey(mine, companion.user.zone, room(context))
    _show(context, found, question, now, began)
    return {"gists": found.gists, "best_pages": found.pages}


def _show(context: ToolContext, found: Survey, question: str, now: datetime, began: float) -> None:
    show(context, [Found(one.memory, one.score, {}) for one in found.shown], question, now, began)
    context.shown |= {one.page.document_id for one in found.shown if one.page}
    context.shown |= {one.entry.pk for one in found.shown if one.entry}


def by_number(
    context: ToolContext, document: str, numbers: Sequence[int], after: int, now: datetime
) -> dict[str, Any]:
    """These pages as they stand there, the first of them that fit; one that is too long is cut, to be read on."""
    began = perf_counter()
    pages = find_pages(context.companion.pk, document, numbers)
    there = [one for one in pages if not one.is_deleted]
    if not there:
        raise ToolError(_missing(pages))
    head = {"document": there[0].document.title, "not_shown": list(numbers)}
    given = _fitting([_told(one, after) for one in there], room(context) - weight(head))
    shown = there[: len(given)]
    gists = [Found(one.memory, 0.0, {}) for one in shown if one.memory]
    show(context, gists, there[0].document.title, now, began)
    context.shown |= {one.document_id for one in shown}
    left = [number for number in dict.fromkeys(numbers) if number not in {one.number for one in shown}]
    return {"document": there[0].document.title, "pages": given} | ({"not_shown": left} if left else {})


def _missing(pages: Sequence[Page]) -> str:
    if pages:
        return f"Page {pages[0].number} of it was deleted."
    return "There is no such page. Call look_up with nothing named for a list."


def _told(page: Page, after: int) -> dict[str, Any]:
    return {"page": page.number, "characters_in_all": len(page.text), "text": page.text[after:]}


def _fitting(told: Sequence[dict[str, Any]], tokens: int) -> list[dict[str, Any]]:
    """The first that fit whole; of one that does not fit alone, its beginning."""
    return fitting(told, tokens) or [
        {**told[0], "text": shortened(told[0]["text"], max(tokens - weight({**told[0], "text": ""}), 0))}
    ]
