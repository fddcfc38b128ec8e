"""The part of `look_up` that reads documents: searches gists that may answer a question, and reads pages by number."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from time import perf_counter
from typing import Any

from companions.tools.bounds import count_tokens, count_tokens_left, cut, take_fitting
from companions.tools.provenance import record_shown
from companions.tools.tool import ToolContext, ToolError
from memory.documents.lookup import MAX_PAGES, LookedUp, Question, find_gists, find_pages, load_titles
from memory.embedding import embed_cue
from memory.recall.recall import Found

MAX_GISTS_TOKENS = 4000


@dataclass(frozen=True, slots=True)
class Survey:
    """What a search gives to the model: gists in chronological order, and the texts of the best pages.

    `shown` are the entries and pages that appear in them.
    """

    gists: list[dict[str, Any]]
    pages: list[dict[str, Any]]
    shown: list[LookedUp]


def search_gists(context: ToolContext, question: str, title: str, now: datetime) -> dict[str, Any]:
    """Return the gists that may answer the question and the best pages, as many as fit.

    If a `title` is given, only the document of that title is searched, unless nothing is found in such a document: a
    model that misspells the title would take it that nothing is there. What is returned is recorded as shown.
    """
    companion = context.companion
    asked = Question(
        text=question,
        now=now,
        zone=companion.user.zone,
        vector=embed_cue(question, context.payer, companion.names),
        names=companion.names,
    )
    began = perf_counter()
    found = load_titles(companion.pk, find_gists(companion.pk, asked))
    wanted = title.strip().casefold()
    mine = [each for each in found if not wanted or each.title.casefold() == wanted] or found
    result = survey(mine, companion.user.zone, count_tokens_left(context))
    record_shown(context, [Found(each.memory, each.score, {}) for each in result.shown], question, now, began)
    context.shown_ids |= {each.page.document_id for each in result.shown if each.page}
    context.shown_ids |= {each.entry.pk for each in result.shown if each.entry}
    return {"gists": result.gists, "best_pages": result.pages}


def survey(ranked: Sequence[LookedUp], zone: tzinfo, tokens: int) -> Survey:
    """Choose the best gists that fit, and up to MAX_PAGES of the best pages that fit whole beside them.

    Gists may take half of the tokens, or all if no page would fit beside them, and at most MAX_GISTS_TOKENS. They are
    returned in chronological order.
    """
    entries = [_render_gist(each, zone) for each in ranked]
    gists = take_fitting(entries, min(tokens // 2, MAX_GISTS_TOKENS))
    left, pages = tokens - count_tokens(gists), []
    for each in [each for each in ranked if each.page][:MAX_PAGES]:
        left -= count_tokens(_render_page(each))
        if left < 0:  # never skip a page for a shorter but worse one
            break
        pages.append(each)
    if not pages:
        gists = take_fitting(entries, min(tokens, MAX_GISTS_TOKENS))
    order = sorted(range(len(gists)), key=lambda at: ranked[at].memory.happened_at)
    shown = [*ranked[: len(gists)], *(page for page in pages if page not in ranked[: len(gists)])]
    return Survey([gists[at] for at in order], [_render_page(each) for each in pages], shown)


def _render_gist(found: LookedUp, zone: tzinfo) -> dict[str, Any]:
    if found.page:
        return {"document": found.title, "page": found.page.number, "text": found.memory.text}
    memory, entry = found.memory, found.entry
    day = entry.get_day(zone) if entry else memory.happened_at.astimezone(zone).date()
    return {"day": day.isoformat(), "title": found.title, "text": entry.summary if entry else memory.text}


def _render_page(found: LookedUp) -> dict[str, Any]:
    if not found.page:
        return {}
    return {"document": found.title, "page": found.page.number, "text": found.page.text}


def read_pages(
    context: ToolContext, title: str, numbers: Sequence[int], after: int, now: datetime
) -> dict[str, Any]:
    """Return the text of these pages from the character `after`: the first that fit, cut if not even one does.

    Raise ToolError if none of the pages exists. The pages are recorded as shown.
    """
    began = perf_counter()
    found = find_pages(context.companion.pk, title, numbers)
    pages = [page for page in found if not page.is_deleted]
    if not pages:
        if found:
            raise ToolError(f"Page {found[0].number} of it was deleted.")
        raise ToolError("There is no such page. Call look_up with nothing named for a list.")
    document = pages[0].document.title
    entries: list[dict[str, Any]] = [
        {"page": page.number, "characters_in_all": len(page.text), "text": page.text[after:]}
        for page in pages
    ]
    left = count_tokens_left(context) - count_tokens({"document": document, "not_shown": list(numbers)})
    given = take_fitting(entries, left)
    if not given:
        head = entries[0] | {"text": ""}
        given = [entries[0] | {"text": cut(entries[0]["text"], max(left - count_tokens(head), 0))}]
    shown = pages[: len(given)]
    gists = [Found(page.memory, 0.0, {}) for page in shown if page.memory]
    record_shown(context, gists, document, now, began)
    context.shown_ids |= {page.document_id for page in shown}
    missing = [number for number in dict.fromkeys(numbers) if number not in {page.number for page in shown}]
    return {"document": document, "pages": given} | ({"not_shown": missing} if missing else {})
