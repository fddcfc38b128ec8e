"""The bench's tables: tokens by part and kind, and what a server reads anew."""

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from statistics import mean

from bench.prompts.kinds import Sent
from companions.prompting.usage import Part, measure_parts
from providers.tokens import estimate

OVERHEAD = (Part.RULES, Part.MOMENT)  # beside persona, history and memories
TALK = 12  # the width of a column


def show_kinds(kinds: Iterable[tuple[str, list[Sent]]]) -> None:
    """Print a line a kind: the tokens of each part, the overhead without and with tools, and all together."""
    columns = [part for part in Part if part != Part.ANSWER]
    names = [str(part.value) for part in columns]
    print(f"{'':20}" + "".join(f"{name:>{TALK}}" for name in (*names, "overhead", "with tools", "all")))
    for kind, sent in kinds:
        parts: Counter[Part] = Counter()
        for one in sent:
            parts.update(measure_parts(one.messages, one.tools))
        overhead = sum(parts[part] for part in OVERHEAD)
        figures = [*(parts[part] for part in columns), overhead, overhead + parts[Part.TOOLS], parts.total()]
        name = kind if len(sent) < 2 else f"{kind} ({len(sent)} requests)"
        print(f"{name:20}" + "".join(f"{figure or '–':>{TALK}}" for figure in figures), flush=True)


def show_talk(talks: Mapping[str, list[Sent]]) -> None:
    """Print for each talk how many tokens of a prompt are new, on average and at most, and how long it is."""
    print("\nTokens of a prompt after the beginning that it shares with the one before:")
    for name, sent in talks.items():
        texts = [_write_out(one) for one in sent]
        new = [estimate(after[_find_common(before, after) :]) for before, after in itertools.pairwise(texts)]
        whole = mean(map(estimate, texts))
        print(f"  {name:30} {mean(new):6.0f} on average, {max(new):6} at most, of {whole:6.0f}", flush=True)


def _write_out(sent: Sent) -> str:
    """The request as templates write it: tools first, then message after message."""
    lines = [json.dumps(sent.tools, ensure_ascii=False)]
    return "\n".join([*lines, *(f"{one['role']}: {one.get('content')}" for one in sent.messages)])


def _find_common(before: str, after: str) -> int:
    """How many characters both begin with."""
    most = min(len(before), len(after))
    return next((at for at in range(most) if before[at] != after[at]), most)
