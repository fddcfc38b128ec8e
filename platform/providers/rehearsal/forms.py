"""The rehearsal model's answers in a given form, quoted word for word from the blocks of the request."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

from providers.chat.events import Messages
from providers.rehearsal.prompt import Material, Said
from providers.rehearsal.words import (
    HAN,
    MARKS,
    count_terms,
    cut_parts,
    find_emotion,
    find_kind,
    is_chinese,
    is_statement,
    measure_aversion,
    measure_joy,
    measure_likeness,
)
from text.strings import has_words

Form = dict[str, Any]

SAME = 0.6  # from this likeness on, two texts say the same
NAMED = re.compile(r"\d|[A-Z][a-z]+|《[^》]+》|最|第一|因为")
SINGLE_QUOTES = str.maketrans("“”", "‘’")
MAX_MEMORIES, MAX_SUMMARY, MAX_SUMMARY_NEW = 6, 1500, 8
MAX_DIARY, MAX_DIARY_EARLIER, MAX_NEW_SENTENCES = 5, 2, 3
MAX_GIST_WORDS, WORDS_A_CHINESE_CHARACTER = 60, 0.6
MAX_COMPARED = 200


@dataclass(frozen=True)
class Sentence:
    """One sentence of a line of the talk."""

    line: Said
    text: str

    @cached_property
    def terms(self) -> set[str]:
        return set(count_terms(self.text, {self.line.name}))

    @cached_property
    def is_echo(self) -> bool:
        return not self.line.is_user and bool(re.search("[“”「」]", self.text))

    @cached_property
    def weight(self) -> float:
        """Return how telling the sentence is: by its terms, names and numbers, and whether it is more than a fact."""
        worth = 2.0 if find_kind(self.text) not in {"fact", "event"} else 0.0
        own = 1.0 if self.line.is_user else 0.0 if self.is_echo else 0.7
        return own * (min(len(self.terms), 12) + min(len(NAMED.findall(self.text)), 4) + worth)

    def cite(self, english: str, chinese: str) -> str:
        """Return the sentence in quotation marks, after the phrase of its language, with the speaker's name in it."""
        phrase = (chinese if is_chinese(self.text) else english).format(self.line.name)
        return f"{phrase}“{self.text.translate(SINGLE_QUOTES)}”"


def write_form(task: str, messages: Messages) -> str:
    """Return the answer to a task, as JSON."""
    return json.dumps(TASKS[task](Material(messages)), ensure_ascii=False)


def _group_statements(material: Material, *, is_user: bool) -> list[list[Sentence]]:
    """Return what one side says of itself, in the order of the talk; sentences that say the same form a group."""
    groups: list[list[Sentence]] = []
    lines = [line for line in material.said if line.is_user == is_user]
    for sentence in (Sentence(line, part) for line in lines for part in cut_parts(line.text)):
        if is_statement(sentence.text) and not sentence.is_echo and len(sentence.terms) >= 2:
            alike = (group for group in groups if measure_likeness(group[0].terms, sentence.terms) >= SAME)
            group = next(alike, None)
            group.append(sentence) if group else groups.append([sentence])
    return groups


def _find_most_telling(material: Material, limit: int) -> list[Sentence]:
    """Return the most telling sentences, at most one of each line, in the order of the talk."""
    lines = [[Sentence(line, part) for part in cut_parts(line.text)] for line in material.said]
    best = [max(sentences, key=lambda sentence: sentence.weight) for sentences in lines if sentences]
    chosen = sorted(best, key=lambda sentence: (-sentence.weight, sentence.line.number))[:limit]
    return sorted(chosen, key=lambda sentence: sentence.line.number)


def _digest(material: Material) -> Form:
    """Return a summary, continuing the earlier one, and memories of what the user says and the companion promises."""
    new = [Sentence(told.line, told.text[:160]) for told in _find_most_telling(material, MAX_SUMMARY_NEW)]
    entries = [*material.summary.splitlines(), *(sentence.cite("{} said: ", "{}说：") for sentence in new)]
    while len(entries) > 1 and len("\n".join(entries)) > MAX_SUMMARY:
        entries.pop(0)

    own = _group_statements(material, is_user=False)
    groups = _group_statements(material, is_user=True)
    groups += [group for group in own if find_kind(group[0].text) == "promise"]
    chosen = sorted(groups, key=lambda group: -group[0].weight)[:MAX_MEMORIES]
    known = material.read_known("known")
    memories = [
        _write_memory(group, known) for group in sorted(chosen, key=lambda group: group[0].line.number)
    ]
    summary = "\n".join(dict.fromkeys(entries))[:MAX_SUMMARY]
    return {"summary": summary or _tell_nothing(material), "memories": memories}


def _write_memory(group: list[Sentence], known: dict[int, str]) -> Form:
    sentence, kind, same = group[0], find_kind(group[0].text), _find_same(group[0], known)
    return {
        "verdict": "add" if same is None else "reinforce",
        "of": same,
        "kind": kind,
        "text": sentence.cite("{} said: ", "{}说："),
        "sources": list(dict.fromkeys(told.line.number for told in group))[:20],
        "quotes": list(dict.fromkeys(told.text for told in group))[:5],
        "happened_on": sentence.line.on.isoformat() if kind == "event" else None,
        "importance": 5 + len(group[1:3]),
        "joy": measure_joy(sentence.text),
        "aversion": measure_aversion(sentence.text),
    }


def _find_same(sentence: Sentence, known: dict[int, str]) -> int | None:
    """Return the number of a known text that says the same as the sentence, or None if there is none."""
    terms = {number: count_terms(text, {sentence.line.name}) for number, text in known.items()}
    alike = (number for number in known if measure_likeness(sentence.terms, terms[number]) >= SAME)
    return next(alike, None)


def _close_day(material: Material) -> Form:
    """Return a diary entry of the session, and the new inner state if the present one is given."""
    emotion, intensity = find_emotion(material.user_text)
    form = {
        "title": _entitle(material),
        "diary": _write_diary(material),
        "emotion": emotion,
        "intensity": intensity,
    }
    return form | ({"inner_state": _reflect(material)} if material.inner else {})


def _understand(material: Material) -> Form:
    return {
        "self_concept": _describe(material, "self", is_user=False),
        "user_profile": _describe(material, "profile", is_user=True),
    }


def _verify(material: Material) -> Form:
    """Answer yes to every drafted memory, since the rehearsal model drafts nothing but what was said."""
    return {"answers": {str(number): "yes" for number in material.read_known("drafted")}}


def _entitle(material: Material) -> str:
    told = _find_most_telling(material, len(material.said))
    best = max(told, key=lambda sentence: (sentence.line.is_user, sentence.weight), default=None)
    words = best.text if best else material.summary
    title = words[:16] if is_chinese(words) else " ".join(words.split()[:7])[:100]
    return title.strip(MARKS) or "…"


def _write_diary(material: Material) -> list[Form]:
    entries = [_write_sentence(text[:380]) for text in material.summary.splitlines()[-MAX_DIARY_EARLIER:]]
    for sentence in _find_most_telling(material, MAX_DIARY - len(entries)):
        phrases = ("{} told me: ", "{}告诉我：") if sentence.line.is_user else ("I said: ", "我说：")
        entries.append(_write_sentence(sentence.cite(*phrases), sentence))
    return entries or [_write_sentence(_tell_nothing(material))]


def _tell_nothing(material: Material) -> str:
    return "我们在一起。" if material.is_chinese else "We were together."


def _describe(material: Material, name: str, *, is_user: bool) -> list[Form]:
    """Return what is to be added about one side: the most telling of what it says of itself that is not known yet."""
    known = material.read_known(name)
    groups = _group_statements(material, is_user=is_user)
    new = [group[0] for group in groups if _find_same(group[0], known) is None]
    new = sorted(new, key=lambda sentence: -sentence.weight)[:MAX_NEW_SENTENCES]
    texts = [sentence.cite("{} says: ", "{}说自己：") if is_user else sentence.text for sentence in new]
    return [
        {"do": "add"} | _write_sentence(text, sentence) for text, sentence in zip(texts, new, strict=True)
    ]


def _write_sentence(text: str, source: Sentence | None = None) -> Form:
    return {"text": text, "sources": [source.line.number] if source else []}


def _reflect(material: Material) -> Form:
    """Return an inner state: a mood judged by the user's words, and the most moving sentences, word for word."""
    emotion, intensity = find_emotion(material.user_text)
    told = _find_most_telling(material, len(material.said))
    moving = [sentence for sentence in told if sentence.line.is_user] or told
    feeling = "我心里有这样的感受。" if material.is_chinese else f"I feel {emotion}."
    new = [sentence.cite("{} said, and it stays with me: ", "{}的话留在我心里：") for sentence in moving[-2:]]
    earlier = [line for line in material.inner.splitlines() if line.strip()]
    return {
        "text": "\n".join([*earlier[-1:], feeling, *new]),
        "valence": round(measure_joy(material.user_text) - measure_aversion(material.user_text), 2),
        "arousal": intensity,
        "emotion": emotion,
        "intensity": intensity,
    }


def _write_gists(material: Material) -> Form:
    """Return each page's first sentences, up to 60 words or 100 Chinese characters, but at least one."""
    gists = []
    for number, page in material.pages:
        between = "" if is_chinese(page) else " "
        paragraphs = (between.join(paragraph.split("\n")) for paragraph in re.split(r"\n\s*\n", page))
        chosen: list[str] = []
        words = 0.0
        for part in dict.fromkeys(cut_parts("\n".join(paragraphs))):
            words += len(re.findall(r"[^\W_\u3400-\u9fff]+", part))
            words += WORDS_A_CHINESE_CHARACTER * len(HAN.findall(part))
            if chosen and words > MAX_GIST_WORDS:
                break
            chosen.append(part)
        gist = between.join(chosen)
        gists.append({"number": number, "gist": gist if has_words(gist) else "A page without words."})
    return {"gists": gists}


def _consolidate(material: Material) -> Form:
    """Merge the memories that have the same terms."""
    facts = [(number, count_terms(text)) for number, text in material.read_known("known").items()]
    merges: dict[int, list[int]] = {}
    merged: set[int] = set()
    for (number, terms), (other, other_terms) in combinations(facts[:MAX_COMPARED], 2):
        if terms and terms == other_terms and number not in merged:
            merges.setdefault(number, []).append(other)
            merged.add(other)
    named = [{"keep": keep, "others": others} for keep, others in merges.items()]
    return {"merges": named, "contradictions": [], "insights": [], "reviews": []}


TASKS: dict[str, Callable[[Material], Form]] = {
    "diary": _close_day,
    "digest": _digest,
    "facts": lambda material: {"memories": _digest(material)["memories"]},
    "gists": _write_gists,
    "night": _consolidate,
    "reflection": _reflect,
    "understanding": _understand,
    "verification": _verify,
}
