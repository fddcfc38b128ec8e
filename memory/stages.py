"""The stages of a recall, each with a switch: benches turn them off one by one to see what each is worth."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stages:
    """All stages are on for people; only benches and tests turn one off.

    `words` BM25 · `meaning` cosine · `surroundings` what the memories said around one lend it · `answers` what a
    question lends the answer that follows it · `speaker` who is meant · `questions` hold back what only asks ·
    `first_person` · `length` · `numbers` where the cue asks how many · `times` where it asks when · `dates` the days
    that the cue names · `talks` the best of the same talk · `spread` neighbours of what is picked already are held
    back · `policy` the factors of the scoring policy.
    """

    words: bool = True
    meaning: bool = True
    surroundings: bool = True
    answers: bool = True
    speaker: bool = True
    questions: bool = True
    first_person: bool = True
    length: bool = True
    numbers: bool = True
    times: bool = True
    dates: bool = True
    talks: bool = True
    spread: bool = True
    policy: bool = True


ALL = Stages()
