"""What the rehearsal model answers where a form is asked for: drawn from the blocks that it is given, word for word."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from itertools import combinations
from typing import Any

from providers.rehearsal.prompt import Known, Material, Messages, Said, read_material
from providers.rehearsal.words import (
    ASK,
    FIRST_PERSON,
    GREETING,
    HAN,
    MARKS,
    QUESTION,
    TELLING,
    cite,
    count_terms,
    cut_parts,
    find_emotion,
    find_kind,
    is_chinese,
    measure_aversion,
    measure_joy,
    measure_likeness,
    measure_overlap,
)

Form = dict[str, Any]

MAX_MEMORIES = 6
SAME, RELATED = 0.6, 0.3  # likeness
CHANGE = re.compile(
    r"(?i)\b(?:any ?more|no longer|now (?:prefer|like|love|live|work|want)\w*|instead|used to|changed my mind)\b"
    r"|不再|现在(?:更|喜欢|住|想)|改(?:成|为|变|主意)|以前|换成"
)
WRONG = re.compile(
    r"(?i)\b(?:forget (?:that|what|about)|(?:is|was)(?:n't| not) true|I was wrong)\b|忘掉|忘了我说|不是真的|我说错了"
)
UNSURE = re.compile(r"(?i)\b(?:maybe|might|perhaps|probably|not sure|I guess)\b|可能|也许|大概|说不定")
IMPORTANCE = {"promise": 7, "relationship": 7, "goal": 6, "preference": 6}
DAYS_AGO = {r"(?i)\b(?:yesterday|last night)\b|昨天|昨晚": 1, r"(?i)\bthe day before yesterday\b|前天": 2}
ISO_DAY = re.compile(r"\b(\d{4}-\d\d-\d\d)\b")
QUOTED = re.compile(r"“([^“”]{4,})”")
MAX_SUMMARY, MAX_SUMMARY_NEW = 1500, 8
SUMMARY_ENTRY = re.compile(r"[^”]+”[.。]?|[^”.!?。！？\n]+[.!?。！？]*", re.DOTALL)
MAX_DIARY, MAX_DIARY_EARLIER, MAX_SENTENCES, MAX_NEW_OF_SELF, MAX_NEW_OF_USER = 5, 2, 20, 2, 3
OF_SELF = re.compile(r"\bI\b|我")
MAX_GIST_WORDS, MAX_GIST, MAX_GIST_SENTENCE = 60, 480, 160
NAMED = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][a-z]+|\d+|《[^》]+》")
TOLD = re.compile(r"^(?P<who>.{1,60}?)(?: said: |说：)“(?P<text>.*)”$", re.DOTALL)
NOT = re.compile(
    r"(?i)\b(?:do|does|did|is|are|was|were|can|could|will|would|have|has)(?:n't|n’t| not)\b|\bcan't\b|\bnot\b|\bnever\b"
    r"|\bno longer\b|\bany ?more\b|不再|不|没有|没"
)
MERGED, CONTRADICTING, REVIEWED = 0.75, 0.4, 0.2  # likeness
MAX_COMPARED, MAX_INSIGHTS, MIN_INSIGHT_MEMORIES = 200, 3, 3
PROGRESS = {
    ("given_up", 0): r"(?i)\b(?:gave up|given up|no longer want|dropped)\b|放弃|取消",
    ("done", 100): r"(?i)\b(?:finished|completed|achieved|passed|graduated)\b|完成|做完|实现|毕业",
    ("under_way", 30): r"(?i)\b(?:started|began|begun|working on|signed up)\b|开始|正在|报名",
}
FEELINGS = {
    "happy": ("I feel glad.", "我觉得高兴。"),
    "sad": ("I feel sad.", "我觉得难过。"),
    "angry": ("I feel angry.", "我觉得生气。"),
    "surprised": ("I feel surprised.", "我觉得惊讶。"),
    "awkward": ("I feel awkward.", "我觉得有点尴尬。"),
    "curious": ("I feel curious.", "我觉得好奇。"),
    "neutral": ("I feel calm.", "我觉得平静。"),
}


def write_form(task: str, messages: Messages, *, swallows: bool = False) -> str:
    """Return the answer to a task, as JSON.

    One that `swallows` wants to keep every sentence of the companion's as news: a bad habit that tests script.
    """
    material = read_material(messages)
    form = TASKS[task](material)
    if swallows and "memories" in form:
        form["memories"] = [*form["memories"], *_swallow(material)][:30]
    if swallows and "user_profile" in form:
        new = [{"text": one["text"][:380], "sources": one["sources"]} for one in _swallow(material)]
        form["user_profile"] = [*form["user_profile"], *new[:3]][-MAX_SENTENCES:]
    return json.dumps(form, ensure_ascii=False)


def _swallow(material: Material) -> Iterator[Form]:
    known = {memory.text: memory.number for memory in material.known.get("known", [])}
    for line in material.said:
        quoted = [] if line.is_user else [*QUOTED.findall(line.text), *cut_parts(line.text)]
        for text in dict.fromkeys(quoted):
            verdict = "reinforce" if text in known else "add"
            yield {
                "verdict": verdict,
                "of": known.get(text),
                "text": text,
                "sources": [line.number],
                "quotes": [text],
            }


@dataclass(frozen=True)
class Sentence:
    """One sentence as it stands in its line."""

    line: Said
    text: str

    @cached_property
    def terms(self) -> set[str]:
        return set(count_terms(self.text, {self.line.name}))

    @cached_property
    def is_echo(self) -> bool:
        return not self.line.is_user and bool(re.search("[“”「」]", self.text))

    @cached_property
    def is_statement(self) -> bool:
        """Whether someone says something of themselves, and neither asks, greets nor repeats what they were told."""
        is_asked = QUESTION.search(self.text) or ASK.search(self.text) or GREETING.match(self.text)
        return bool(
            FIRST_PERSON.search(self.text) and not is_asked and not self.is_echo and len(self.terms) >= 2
        )

    @cached_property
    def kind(self) -> str:
        return find_kind(self.text)

    @cached_property
    def weight(self) -> float:
        """How much it tells: its terms, names and numbers, and whether it is more than a mere fact."""
        worth = 2.0 if self.kind in IMPORTANCE else 0.0
        own = 1.0 if self.line.is_user else 0.0 if self.is_echo else 0.7
        return own * (min(len(self.terms), 12) + min(len(TELLING.findall(self.text)), 4) + worth)

    def tell(self, english: str, chinese: str) -> str:
        """Return it in one of two phrases, after the name of who said it."""
        return (chinese if is_chinese(self.text) else english).format(self.line.name) + cite(self.text)


def _find_statements(material: Material, *, is_user: bool) -> list[list[Sentence]]:
    """Return what one side says of itself, what says the same together, in the order of the talk."""
    groups: list[list[Sentence]] = []
    lines = [line for line in material.said if line.is_user == is_user]
    for sentence in (Sentence(line, part) for line in lines for part in cut_parts(line.text)):
        if sentence.is_statement:
            alike = (one for one in groups if measure_likeness(one[0].terms, sentence.terms) >= SAME)
            group = next(alike, None)
            group.append(sentence) if group else groups.append([sentence])
    return groups


def _find_most_telling(material: Material, limit: int) -> list[Sentence]:
    """Return the sentences that tell most, one a line, in the order of the talk."""
    lines = [[Sentence(line, part) for part in cut_parts(line.text)] for line in material.said]
    best = [max(sentences, key=lambda one: one.weight) for sentences in lines if sentences]
    chosen = sorted(best, key=lambda one: (-one.weight, one.line.number))[:limit]
    return sorted(chosen, key=lambda one: one.line.number)


def _digest(material: Material) -> Form:
    return {"summary": _summarise(material), "memories": _learn(material)}


def _read_summary(material: Material) -> list[str]:
    return [entry.strip() for entry in SUMMARY_ENTRY.findall(material.summary) if entry.strip()]


def _summarise(material: Material) -> str:
    """Return the earlier summary and the most telling of what is new; the oldest goes where it grows too long."""
    new = [Sentence(one.line, one.text[:160]) for one in _find_most_telling(material, MAX_SUMMARY_NEW)]
    told = [one.tell("{} said: ", "{}说：") for one in new]
    entries = list(dict.fromkeys([*_read_summary(material), *told]))
    while len(entries) > 1 and len("\n".join(entries)) > MAX_SUMMARY:
        entries.pop(0)
    return "\n".join(entries)[:MAX_SUMMARY] or "…"


def _learn(material: Material) -> list[Form]:
    """Return what is to be kept, at most six things, in the order of the talk, with a verdict against what is known."""
    promises = [one for one in _find_statements(material, is_user=False) if one[0].kind == "promise"]
    groups = _find_statements(material, is_user=True) + promises
    chosen = sorted(groups, key=lambda one: -one[0].weight)[:MAX_MEMORIES]
    known = material.known.get("known", [])
    return [_write_memory(one, known) for one in sorted(chosen, key=lambda one: one[0].line.number)]


def _write_memory(group: list[Sentence], known: list[Known]) -> Form:
    sentence, text = group[0], group[0].text
    verdict, of = _judge(sentence, known)
    return {
        "verdict": verdict,
        "of": of,
        "kind": sentence.kind,
        "text": sentence.tell("{} said: ", "{}说："),
        "sources": list(dict.fromkeys(one.line.number for one in group))[:20],
        "quotes": list(dict.fromkeys(one.text for one in group))[:5],
        "happened_on": _find_day(sentence),
        "importance": IMPORTANCE.get(sentence.kind, 5) + len(group[1:3]),
        "joy": measure_joy(text),
        "aversion": measure_aversion(text),
        "confidence": 0.5 if UNSURE.search(text) else 0.9,
    }


def _judge(sentence: Sentence, known: list[Known]) -> tuple[str, int | None]:
    verdict = "retract" if WRONG.search(sentence.text) else "revise" if CHANGE.search(sentence.text) else ""
    if verdict:
        before = _find_changed(sentence, known)
        return (verdict, before.number) if before else ("add", None)
    same = _find_same(sentence, known)
    return ("reinforce", same.number) if same else ("add", None)


def _find_same(sentence: Sentence, known: list[Known]) -> Known | None:
    names = {sentence.line.name}
    alike = (one for one in known if measure_likeness(sentence.terms, count_terms(one.text, names)) >= SAME)
    return next(alike, None)


def _find_changed(sentence: Sentence, known: list[Known]) -> Known | None:
    """Return what is known of the subject that a sentence speaks of, that with most in common."""
    names = {sentence.line.name}
    ranked = [(measure_overlap(sentence.terms, count_terms(one.text, names)), one) for one in known]
    share, best = max(ranked, key=lambda pair: pair[0], default=(0.0, None))
    return best if share >= RELATED else None


def _find_day(sentence: Sentence) -> str | None:
    """Return the day that a sentence tells of, in ISO; None for what is not of a day."""
    if dated := ISO_DAY.search(sentence.text):
        try:
            return date.fromisoformat(dated[1]).isoformat()
        except ValueError:
            return None
    days = max((days for words, days in DAYS_AGO.items() if re.search(words, sentence.text)), default=0)
    return (sentence.line.on - timedelta(days=days)).isoformat() if sentence.kind == "event" else None


def _end(material: Material) -> Form:
    emotion, intensity = find_emotion(material.user_text)
    form = _digest(material) | {
        "title": _entitle(material),
        "diary": _write_diary(material),
        "emotion": emotion,
        "intensity": intensity,
        "self_concept": _describe_self(material),
        "user_profile": _describe_user(material),
    }
    return form | ({"inner_state": _reflect(material)} if material.inner else {})


def _entitle(material: Material) -> str:
    telling = _find_most_telling(material, 40)
    rank = [(one.line.is_user and one.is_statement, one.line.is_user, one.weight) for one in telling]
    words = telling[rank.index(max(rank))].text if telling else material.summary
    title = words[:16] if is_chinese(words) else " ".join(words.split()[:7])[:100]
    return title.strip(MARKS) or "…"


def _write_diary(material: Material) -> list[Form]:
    earlier = [_entry(text[:380]) for text in _read_summary(material)[-MAX_DIARY_EARLIER:]]
    new = _find_most_telling(material, MAX_DIARY - len(earlier))
    told = [
        _entry(
            one.tell("{} told me: ", "{}告诉我：") if one.line.is_user else one.tell("I said: ", "我说："),
            one,
        )
        for one in new
    ]
    return earlier + told or [_entry("我们在一起。" if material.is_chinese else "We were together.")]


def _describe_self(material: Material) -> list[Form]:
    """Return the earlier sentences, and what the companion said that tells most of itself; else what it was told."""
    known = material.known.get("self", [])
    own = [group[0] for group in _find_statements(material, is_user=False)]
    new = [one for one in own if OF_SELF.search(one.text) and not _find_same(one, known)]
    chosen = sorted(new, key=lambda one: -one.weight)[:MAX_NEW_OF_SELF]
    entries = [_entry(one.text, one) for one in chosen] or _remember_told(material, known)
    return [*(_entry(one.text, keeps=one.number) for one in known), *entries][-MAX_SENTENCES:]


def _remember_told(material: Material, known: list[Known]) -> list[Form]:
    """Return what tells most of all that the companion was told and has not written down yet."""
    of_user = [
        Sentence(line, part) for line in material.said if line.is_user for part in cut_parts(line.text)
    ]
    told = [(one.tell("I keep in mind what {} said: ", "我记得{}说："), one) for one in of_user]
    new = [(text, one) for text, one in told if text not in {sentence.text for sentence in known}]
    best = max(new, key=lambda pair: (pair[1].is_statement, pair[1].weight), default=None)
    return [_entry(*best)] if best else []


def _describe_user(material: Material) -> list[Form]:
    known = material.known.get("profile", [])
    said = [group[0] for group in _find_statements(material, is_user=True)]
    new = [one for one in said if not _find_same(one, known)]
    chosen = sorted(new, key=lambda one: (not CHANGE.search(one.text), -one.weight))[:MAX_NEW_OF_USER]
    changes = {
        before.number: one
        for one in chosen
        if CHANGE.search(one.text) and (before := _find_changed(one, known))
    }
    entries = [
        _entry(_tell_of_user(changes[one.number]), changes[one.number], one.number)
        if one.number in changes
        else _entry(one.text, keeps=one.number)
        for one in known
    ]
    more = sorted((one for one in chosen if one not in changes.values()), key=lambda one: one.line.number)
    return [*entries, *(_entry(_tell_of_user(one), one) for one in more)][-MAX_SENTENCES:]


def _tell_of_user(sentence: Sentence) -> str:
    return sentence.tell("{} says: ", "{}说自己：")


def _entry(text: str, source: Sentence | None = None, keeps: int | None = None) -> Form:
    return {"text": text, "sources": [source.line.number] if source else [], "keeps": keeps}


def _write_gists(material: Material) -> Form:
    return {"gists": [{"number": number, "gist": _write_gist(page)} for number, page in material.pages]}


def _write_gist(page: str) -> str:
    """Return a page's first sentence and those with most names and numbers, at most 60 words, in its own order."""
    between = "" if is_chinese(page) else " "
    paragraphs = (between.join(lines.split("\n")) for lines in re.split(r"\n\s*\n", page))
    parts = [part[:MAX_GIST_SENTENCE] for part in dict.fromkeys(cut_parts("\n".join(paragraphs)))]
    telling = [2 * len(set(NAMED.findall(part))) + 0.5 * min(len(count_terms(part)), 14) for part in parts]
    chosen: list[int] = []
    words, characters = 0.0, 0
    for at in sorted(range(len(parts)), key=lambda at: (at > 0, -telling[at], at)):
        words += len(re.findall(r"[^\W_\u3400-\u9fff]+", parts[at])) + 0.6 * len(HAN.findall(parts[at]))
        characters += len(parts[at]) + 1
        if chosen and (words > MAX_GIST_WORDS or characters > MAX_GIST):
            break
        chosen.append(at)
    return between.join(parts[at] for at in sorted(chosen)) or "…"


class _Fact:
    """A known memory, with what it is about and whether that is denied."""

    def __init__(self, known: Known) -> None:
        told = TOLD.match(known.text)
        self.number, self.kind = known.number, known.kind
        self.who, self.text = (told["who"], told["text"]) if told else ("", known.text)
        self.is_denied = bool(NOT.search(self.text))
        self.terms = set(count_terms(NOT.sub("", self.text), {self.who}))
        self.digits = re.findall(r"\d+", self.text)


def _consolidate(material: Material) -> Form:
    """Find what says the same, what contradicts, what comes back, and how goals stand."""
    facts = [
        _Fact(known)
        for known in material.known.get("known", [])[:MAX_COMPARED]
        if not QUESTION.search(known.text)
    ]
    merges: dict[int, list[int]] = defaultdict(list)
    merged: set[int] = set()
    contradictions = []
    for one, other in combinations(facts, 2):
        if one.who != other.who:
            continue
        likeness = measure_likeness(one.terms, other.terms)
        if one.is_denied != other.is_denied:
            if likeness >= CONTRADICTING:
                contradictions.append({"a": one.number, "b": other.number})
        elif likeness >= MERGED and one.digits == other.digits and not merged & {one.number, other.number}:
            merges[one.number].append(other.number)
            merged.add(other.number)
    return {
        "merges": [{"keep": keep, "others": others} for keep, others in merges.items()],
        "contradictions": contradictions,
        "insights": _find_insights(facts),
        "reviews": _review_goals(material.known.get("pursuits", []), facts),
    }


def _find_insights(facts: list[_Fact]) -> list[Form]:
    """Return what three memories or more come back to, each of them in one insight at most."""
    drawn = " ".join(fact.text for fact in facts if fact.kind == "insight")
    by_term: dict[str, list[_Fact]] = defaultdict(list)
    for fact in facts:
        for term in fact.terms if fact.kind != "insight" else ():
            by_term[term].append(fact)
    insights: list[Form] = []
    used: set[int] = set()
    for term, sources in sorted(by_term.items(), key=lambda pair: (-len(pair[1]), -len(pair[0]), pair[0])):
        numbers = {fact.number for fact in sources}
        is_feeling = measure_joy(term) or measure_aversion(term)
        if len(sources) < MIN_INSIGHT_MEMORIES or used & numbers or is_feeling or term in drawn:
            continue
        who = sources[0].who if len({fact.who for fact in sources}) == 1 else ""
        english = f"{who or 'What is said'} comes back to “{term}” again and again."
        text = f"{who}一再说到“{term}”。" if is_chinese(sources[0].text) else english
        insights.append({"text": text, "from": [fact.number for fact in sources]})
        used |= numbers
    return insights[:MAX_INSIGHTS]


def _review_goals(goals: list[Known], facts: list[_Fact]) -> list[Form]:
    reviews = []
    for known in goals:
        goal = _Fact(known)
        related = [one for one in facts if measure_likeness(one.terms, goal.terms) >= REVIEWED]
        told = " ".join(one.text for one in related if one.text != goal.text)
        stands = next((progress for progress, words in PROGRESS.items() if re.search(words, told)), None)
        if stands:
            reviews.append({"of": known.number, "status": stands[0], "progress": stands[1]})
    return reviews


def _reflect(material: Material) -> Form:
    """Return a mood by the words that were said, and what moved it most, word for word."""
    emotion, intensity = find_emotion(material.user_text)
    joy, aversion = measure_joy(material.user_text), measure_aversion(material.user_text)
    telling = _find_most_telling(material, len(material.said))
    moving = [one for one in telling if one.line.is_user] or telling
    ranked = sorted(moving, key=lambda one: -(measure_joy(one.text) + measure_aversion(one.text)))[:2]
    new = [FEELINGS[emotion][material.is_chinese]]
    for one in ranked:
        of_user = one.tell("What {} said stays with me: ", "{}的话留在我心里：")
        new.append(of_user if one.line.is_user else one.tell("What I said stays with me: ", "我自己说过："))
    earlier = [line for line in material.inner.splitlines() if line.strip() and line not in new]
    return {
        "text": "\n".join([*earlier[-1:], *new]),
        "valence": round(joy - aversion, 2),
        "arousal": max(intensity, round((joy + aversion) / 2, 2)),
        "emotion": emotion,
        "intensity": intensity,
    }


TASKS: dict[str, Callable[[Material], Form]] = {
    "digest": _digest,
    "ending": _end,
    "gists": _write_gists,
    "night": _consolidate,
    "reflection": _reflect,
}
