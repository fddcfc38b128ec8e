"""The report of a comparison: how two models' answers to the same exchanges differ, in numbers and in plain words."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companions.minds.comparison.measures import MEASURES, Answer, Occasion
from companions.minds.comparison.statistics import CLEAR_P, Floats, compare, find_least_p
from companions.models import ComparedExchange, Comparison
from memory.embedding.spaces import embed_texts
from memory.models import Recalled

MANY_EXCHANGES = 30  # with so many, models that show no difference hardly differ much

Exchange = tuple[Occasion, Answer, Answer]


def build_report(comparison: Comparison) -> dict[str, Any]:
    """Return the report on the exchanges that both models have answered; empty if there are none."""
    rows = comparison.exchanges.exclude(own_text=None).exclude(other_text=None)
    answered = list(rows.select_related("prompt__reply__message").defer("prompt__messages", "prompt__tools"))
    remembered = _load_remembered(comparison, answered)
    person = comparison.companion.user.name
    exchanges = [
        (
            Occasion(row.prompt.reply.message.text, remembered.get(row.prompt.reply_id, []), person),
            Answer(row.own_text or "", row.own_emotions),
            Answer(row.other_text or "", row.other_emotions),
        )
        for row in answered
    ]
    if not exchanges:
        return {}
    return measure_differences(exchanges, _embed(comparison, exchanges), seed=comparison.pk.int % 2**32)


def _load_remembered(comparison: Comparison, rows: Sequence[ComparedExchange]) -> dict[Any, list[str]]:
    """Return the texts of the memories recalled for each reply, by the reply's id."""
    replies = [row.prompt.reply_id for row in rows]
    found = Recalled.objects.of(comparison.companion_id).filter(recall__reply__in=replies)
    remembered: dict[Any, list[str]] = {}
    for reply, text in found.values_list("recall__reply", "memory__text"):
        remembered.setdefault(reply, []).append(text)
    return remembered


def _embed(comparison: Comparison, exchanges: Sequence[Exchange]) -> Floats | None:
    """Return the answers' embeddings, (n, 2, width): own and other; None if there is no embedder or one is empty."""
    texts = [answer.text for _occasion, own, other in exchanges for answer in (own, other)]
    if not all(text.strip() for text in texts):
        return None
    embedded = embed_texts(comparison.companion_id, texts, comparison.companion.payer)
    if embedded is None:
        return None
    vectors = embedded[1].astype(np.float64)
    return vectors.reshape(len(exchanges), 2, -1)


def measure_differences(exchanges: Sequence[Exchange], vectors: Floats | None, seed: int) -> dict[str, Any]:
    """Return the report: the number of answers, each measure's difference by name, and the mean distance in meaning.

    `vectors` is (n, 2, width), each of length 1; None leaves the distance out.
    """
    own = {
        name: np.array([measure(own, occasion) for occasion, own, _other in exchanges], dtype=np.float64)
        for name, measure in MEASURES.items()
    }
    other = {
        name: np.array([measure(other, occasion) for occasion, _own, other in exchanges], dtype=np.float64)
        for name, measure in MEASURES.items()
    }
    shift = None if vectors is None else vectors[:, 1] - vectors[:, 0]
    differences, p = compare(own, other, shift, seed)
    report: dict[str, Any] = {
        "answers": len(exchanges),
        "measures": {name: asdict(difference) for name, difference in differences.items()},
    }
    if vectors is not None:
        distances = 1.0 - (vectors[:, 0] * vectors[:, 1]).sum(axis=1)
        report["meaning"] = {"distance": float(distances.mean()), "p": p}
    return report


# -- in words


@dataclass(frozen=True, slots=True)
class Line:
    """One measure in words: its label, its value for either model, and the difference.

    It `is_clear` if the difference is unlikely to be chance, and `is_same` if nothing differs at all.
    """

    label: str
    own: str
    other: str
    change: str
    is_clear: bool
    is_same: bool = False


def describe_report(report: Mapping[str, Any]) -> list[Line]:
    """Return the report's lines in the active language, clear differences first."""
    labels = {
        "length": _("How long an answer is, in characters"),
        "questions": _("Questions in an answer"),
        "name": _("Answers that call you by name"),
        "formal": _("Answers with a formal “you”"),
        "language": _("Answers in the language of your message"),
        "emotions": _("Emotions shown in an answer"),
        "gladness": _("How glad it sounds, from −100 % to 100 %"),
        "memory": _("Words from its memories that an answer uses"),
    }
    lines = []
    for name, numbers in report.get("measures", {}).items():
        form = _format_number if name in ("length", "questions", "emotions") else _format_share
        is_clear = numbers["p"] < CLEAR_P
        low, high, own, other = (form(numbers[part]) for part in ("low", "high", "own", "other"))
        between = low if low == high else _("between %(low)s and %(high)s") % {"low": low, "high": high}
        change = _("difference: %(between)s") % {"between": between}
        is_same = not is_clear and own == other and low == high
        lines.append(Line(labels[name], own, other, change, is_clear, is_same))
    if meaning := report.get("meaning"):
        distance = _("%(share)s apart, where 0 %% is the same") % {
            "share": _format_share(meaning["distance"])
        }
        lines.append(Line(_("What the answers are about"), "", "", distance, meaning["p"] < CLEAR_P))
    return sorted(lines, key=lambda line: not line.is_clear)


def describe_weight(report: Mapping[str, Any]) -> str:
    """Return a sentence in the active language on how much so many answers can show."""
    count = report["answers"]
    if find_least_p(count) >= CLEAR_P:
        text = ngettext(
            "%(count)s answer from each is too few to tell a difference from chance: read them, and trust your own ear.",
            "%(count)s answers from each are too few to tell a difference from chance: read them, and trust your own"
            " ear.",
            count,
        )
    elif count < MANY_EXCHANGES:
        text = _(
            "%(count)s answers from each show only large differences: one that is not marked as clear may still be"
            " real."
        )
    else:
        text = _(
            "Based on %(count)s answers from each; of fifty pairs of identical models, at most one would be called"
            " different."
        )
    return text % {"count": count}


def _format_number(number: float) -> str:
    return (f"{number:.0f}" if abs(number) >= 10 else f"{round(number, 1) + 0.0:.1f}").replace("-", "\u2212")


def _format_share(share: float) -> str:
    return f"{round(share * 100)}\u00a0%".replace("-", "\u2212")
