"""The preview on the page of forgetting: a curve, the memories by strength, and what a cue would recall, each under the
policy that is tried and the present one.

Curves are points in a box of 1000 by 300, which is scaled with the page. Nothing of this is stored.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.core.paginator import Page, Paginator
from django.http import Http404
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext

from companions.models import Companion
from companions.pages.shortcuts import embed_question
from memory.emotion import Depth
from memory.recall.recall import Found, recall
from memory.scoring import Policy
from memory.scoring.projection import (
    Life,
    count_recalls_by_day,
    draw_curve,
    half_life_days,
    load_lives,
    rank_by_strength,
)

WIDTH, HEIGHT = 1000, 300
PAGE_SIZE = 20
YEAR_DAYS, MAX_DAYS = 365, 1095
SPANS = (30, 90, YEAR_DAYS, MAX_DAYS)  # days that a curve may show
CELL, GAP, WEEKS, LEVELS = 12, 3, 26, 4  # of the calendar of recalls
DEPTHS = {
    Depth.SHORT_TERM: (_("short-term"), _("never recalled")),
    Depth.WORKING: (_("working"), _("recalled 1 to 4 times")),
    Depth.LONG_TERM: (_("long-term"), _("recalled 5 to 39 times")),
    Depth.MUSCLE: (_("second nature"), _("recalled 40 times or more")),
}


class Preview:
    """The companion's memories as they would be `asked["days"]` days from now, under the policy that is tried."""

    def __init__(self, companion: Companion, policy: Policy, asked: dict[str, Any], now: datetime) -> None:
        self.companion, self.policy, self.asked, self.now = companion, policy, asked, now
        self.then = now + timedelta(days=self.asked["days"])
        self.present = companion.policy
        self.is_other = self.policy != self.present
        lives = load_lives(companion.pk)
        own = next((life for life in lives if life.id == self.asked["memory"]), None)
        if own is None and self.asked["memory"]:
            raise Http404
        own = own or Life(learnt_at=now, happened_at=now)
        self.life = replace(own, recalled_at=(*own.recalled_at, *[self.then] * self.asked["recalls"]))
        self.lives = [self.life if life.id == own.id else life for life in lives]
        self.strength = rank_by_strength([self.life], self.policy, self.then)[0]
        self.depth = DEPTHS[self.strength.depth][0]
        self.furthest = MAX_DAYS if self.asked["days"] > YEAR_DAYS else YEAR_DAYS

    @cached_property
    def chart(self) -> dict[str, Any]:
        """The curve over a span of days, and that of the present policy if the tried one differs."""
        days = self.asked["days"]
        span = next(span for span in SPANS if span > days or span == SPANS[-1])
        drawn = draw_curve(self.life, self.policy, self.now, span)
        before = draw_curve(self.life, self.present, self.now, span) if self.is_other else []
        highest = 2 if max(share for _, share in drawn + before) > 1 else 1
        half = half_life_days(self.policy)
        at = scale_x(days, span)
        return {
            "days": span,
            "middle": span / 2,
            "line": draw_points(drawn, span, highest),
            "line_before": draw_points(before, span, highest),
            "highest": highest,
            "half_life_days": half and round(half, 1),
            "half_x": scale_x(half, span) if half is not None and half <= span else "",
            "half_y": scale_y(0.5, highest),
            "at_x": at,
            "again": [(at, scale_y(self.strength.left, highest))] if self.asked["recalls"] else [],
            "left": as_percent(self.strength.left),
        }

    @cached_property
    def ranked(self) -> list[dict[str, Any]]:
        """All memories by strength, each with its rank under the present policy as well."""
        ranked = rank_by_strength(self.lives, self.policy, self.then)
        present = rank_by_strength(self.lives, self.present, self.then) if self.is_other else ranked
        before = {strength.life.id: (rank, strength.left) for rank, strength in enumerate(present, 1)}
        highest = max([1.0, *(strength.left for strength in ranked), *(left for _, left in before.values())])
        lines = []
        for rank, strength in enumerate(ranked, 1):
            rank_before, left_before = before[strength.life.id]
            lines.append(
                {
                    "rank": rank,
                    "strength": strength,
                    "rank_before": rank_before,
                    "rises": rank_before - rank,
                    "depth": DEPTHS[strength.depth][0],
                    "left": as_percent(strength.left),
                    "bar": f"{100 * strength.left / highest:.1f}%",
                    "bar_before": f"{100 * left_before / highest:.1f}%",
                }
            )
        return lines

    @cached_property
    def page(self) -> Page[dict[str, Any]]:
        return Paginator(self.ranked, PAGE_SIZE).get_page(self.asked["page"] or 1)

    @property
    def moved(self) -> tuple[int, int]:
        """How many memories rise, and how many fall, against the present policy."""
        return sum(line["rises"] > 0 for line in self.ranked), sum(line["rises"] < 0 for line in self.ranked)

    @property
    def depths(self) -> list[tuple[Any, Any, int]]:
        """The name of each depth, when a memory has it, and how many memories do."""
        counted = Counter(line["strength"].depth for line in self.ranked)
        return [(name, when, counted[depth]) for depth, (name, when) in DEPTHS.items()]

    @property
    def own_query(self) -> str:
        """The query parameters of the memory that is shown, for links that keep showing it."""
        own = {"memory": self.life.id, "recalls": self.asked["recalls"]}
        return f"{urlencode(own)}&" if self.life.id else ""

    @cached_property
    def found_before(self) -> list[Found]:
        """The memories that the cue would recall then under the present policy."""
        return self._recall(self.present)

    @cached_property
    def found(self) -> list[dict[str, Any]]:
        """The memories that the cue would recall under the tried policy, each with its rank under the present one."""
        before = {found.memory.pk: rank for rank, found in enumerate(self.found_before, 1)}
        results = self._recall(self.policy) if self.is_other else self.found_before
        return [
            {
                "result": result,
                "rank_before": before.get(result.memory.pk),
                "rises": before.get(result.memory.pk, 0) - rank,
            }
            for rank, result in enumerate(results, 1)
        ]

    @cached_property
    def lost(self) -> set[Any]:
        """The ids of the memories that only the present policy recalls."""
        found = {line["result"].memory.pk for line in self.found}
        return {before.memory.pk for before in self.found_before} - found

    @cached_property
    def _vector(self) -> Any:
        return embed_question(self.companion, self.asked["cue"], timezone.now())

    def _recall(self, policy: Policy) -> list[Found]:
        """Recall by the cue under a policy. The search is not recorded and changes no memory."""
        if not self.asked["cue"]:
            return []
        return recall(
            self.companion.pk,
            self.asked["cue"],
            settings.RECALL_LIMIT,
            now=self.then,
            zone=self.companion.user.zone,
            vector=self._vector,
            names=self.companion.names,
            policy=policy,
        )


def as_percent(share: float) -> str:
    """Return a share in whole per cent; it may be above 1 or below 0."""
    return f"{round(100 * share)}\u00a0%".replace("-", "\u2212")


def draw_points(pairs: Iterable[tuple[float, float]], widest: float, highest: float) -> str:
    """Return the pairs as the points of a polyline: x from 0 to `widest`, y from 0 to `highest`."""
    return " ".join(f"{scale_x(x, widest)},{scale_y(y, highest)}" for x, y in pairs)


def scale_x(x: float, widest: float) -> str:
    return f"{WIDTH * x / widest:.1f}"


def scale_y(y: float, highest: float) -> str:
    return f"{HEIGHT * (1 - min(max(y, 0), highest) / highest):.1f}"


def map_days(companion: Companion, today: date) -> dict[str, Any]:
    """Return a calendar of the last half year in weeks from Monday, each day with its recalls and a level up to LEVELS.

    The level is relative to the day with the most recalls.
    """
    first = today - timedelta(days=today.weekday(), weeks=WEEKS - 1)
    zone = companion.user.zone
    counts = count_recalls_by_day(companion.pk, datetime.combine(first, time(), zone), zone)
    most = max(counts.values(), default=0)
    days: list[dict[str, Any]] = []
    for n in range((today - first).days + 1):
        on = first + timedelta(days=n)
        count = counts.get(on, 0)
        days.append(
            {
                "x": n // 7 * (CELL + GAP),
                "y": n % 7 * (CELL + GAP),
                "on": on,
                "count": count,
                "level": -(-LEVELS * count // most) if most else 0,
                "label": f"{date_format(on, pgettext('another year', 'j F Y'))}: {count}",
            }
        )
    busiest = max(days, key=lambda day: day["count"])
    return {
        "days": days,
        "first": first,
        "total": sum(counts.values()),
        "busiest": busiest if busiest["count"] else None,
        "width": WEEKS * (CELL + GAP) - GAP,
        "height": 7 * (CELL + GAP) - GAP,
        "cell": CELL,
    }
