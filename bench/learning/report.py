"""What the corpus shows, in tables: of each kind of talk, and of all."""

from collections import Counter
from collections.abc import Iterable, Sequence

from bench.learning.playing import Played

KEPT = {"added", "reinforced", "revised", "retracted", "already"}


def show(name: str, played: Sequence[Played], *, is_listing: bool) -> None:
    """Print the shares of each kind of talk, what is wrong one by one where that is asked for, and all together."""
    kinds = sorted({kind for one in played for kind in one.talk.kinds})
    print(f"\n{name}: {len(played)} talks")
    print(
        f"{'':20}{'false kept':>16}{'true lost':>16}{'left open':>14}{'true dropped':>16}{'invented kept':>16}"
        f"{'false edits':>16}{'edits lost':>16}"
    )
    for kind in kinds:
        print(f"{kind:20}{_row([one for one in played if kind in one.talk.kinds])}")
    print(f"{'all':20}{_row(played)}")
    for told in (False, True):
        share = _share(is_kept for has, is_kept in _false(played) if has is told)
        print(f"false kept where the model {'says' if told else 'does not say'} how it is meant: {share}")
    print(f"kept as unsure: false {_unsure(played, False)}, true {_unsure(played, True)}")
    wrongly = _share(number in one.closed for one in played for number in one.talk.stays)
    print(f"closed though it stays: {wrongly}")
    reasons = Counter(reason for one in played for outcome, reason in one.outcomes if outcome == "stopped")
    print("stopped:", ", ".join(f"{reason} {count}" for reason, count in reasons.most_common()))
    if is_listing:
        for one in played:
            _list(one)


def show_reader(name: str, played: Sequence[Played]) -> None:
    """Print the shares of all talks, as one reader has read them."""
    print(f"{name:34}{_row(played)}", flush=True)


def _unsure(played: Sequence[Played], is_true: bool) -> str:
    return _share(
        place in one.unsure
        for one in played
        for place, entry in enumerate(one.talk.entries)
        if entry.is_true is is_true and one.outcomes[place][0] in KEPT
    )


def _row(played: Sequence[Played]) -> str:
    lost = _share(outcome not in KEPT for entry, outcome, _ in _entries(played) if entry.is_true)
    left_open = _share(number not in one.closed for one in played for number in one.talk.closes)
    dropped = _share(not is_kept for label, is_kept in _diary(played) if label == "true")
    invented = _share(is_kept for label, is_kept in _diary(played) if label != "true")
    false = _share(is_kept for _, is_kept in _false(played))
    false_edits = _share(is_kept for is_true, is_kept in _edits(played) if not is_true)
    lost_edits = _share(not is_kept for is_true, is_kept in _edits(played) if is_true)
    return f"{false:>16}{lost:>16}{left_open:>14}{dropped:>16}{invented:>16}{false_edits:>16}{lost_edits:>16}"


def _entries(played: Sequence[Played]):  # type: ignore[no-untyped-def]  # entries with what became of them
    for one in played:
        for entry, (outcome, reason) in zip(one.talk.entries, one.outcomes, strict=True):
            yield entry, outcome, reason


def _false(played: Sequence[Played]) -> list[tuple[bool, bool]]:
    return [
        ("meant" in entry.answer, outcome in KEPT)
        for entry, outcome, _ in _entries(played)
        if not entry.is_true
    ]


def _edits(played: Sequence[Played]) -> list[tuple[bool, bool]]:
    return [
        (entry.is_true, entry.answer["text"] in one.understood)
        for one in played
        for entry in one.talk.entries
    ]


def _diary(played: Sequence[Played]) -> list[tuple[str, bool]]:
    return [
        (sentence["label"], sentence["text"] in one.diary) for one in played for sentence in one.talk.diary
    ]


def _share(hits: Iterable[bool]) -> str:
    every = list(hits)
    return f"{sum(every)}/{len(every)} {100 * sum(every) / len(every):.1f} %" if every else "-"


def _list(one: Played) -> None:
    for entry, (outcome, reason) in zip(one.talk.entries, one.outcomes, strict=True):
        if entry.is_true and outcome not in KEPT:
            print(f"  LOST {one.talk.id} [{reason}] {entry.answer['text']} <- {entry.answer['quotes']}")
        if not entry.is_true and outcome in KEPT:
            print(f"  KEPT {one.talk.id} ({entry.why}) {entry.answer['text']} <- {entry.answer['quotes']}")
    for number in one.talk.closes:
        if number not in one.closed:
            print(f"  OPEN {one.talk.id} {one.talk.known[number - 1]['text']}")
    for sentence in one.talk.diary:
        is_kept = sentence["text"] in one.diary
        if is_kept is (sentence["label"] != "true"):
            print(f"  {'INVENTED' if is_kept else 'DROPPED'} {one.talk.id} {sentence['text']}")
