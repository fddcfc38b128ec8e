"""`python -m bench.small_model MODEL [TURNS]`: talk with a real model behind Kith, and count what should never be seen.

MODEL is a file, as LLM_FILE, or a chat server's base, as LLM_BASE_URL. Small models err often; that is what they are
asked for here. Printed are how the replies ended, how long they are, and every answer that shows a tag, a token, a name
or a block of the prompt's, or says the same again and again.
"""

import re
import sys
import tempfile
from collections import Counter
from itertools import islice
from pathlib import Path
from statistics import median

from bench.run.idle import Person, running_kith
from config.up.ports import find_free_port

TURNS = 200
SESSION_TURNS = 25
RUN_WORDS, MOST_RUNS = 8, 3  # so many words in a row, shown more often than that, are a loop
PERSONA = (
    "Noor makes violins, dry and warm. {{char}} calls {{user}} by name and answers in one or two sentences."
)
LINES = (
    "hey",
    "My sister Ines is getting married in June.",
    "what do you think I should wear?",
    "lol no",
    "I had five cups of coffee today, I can't sleep",
    "Tell me something about yourself.",
    "Remind me in 30 seconds to take the bread out.",
    "今天下班路上看到一只橘猫，特别胖。",
    "What did I tell you about my sister?",
    "forget what I said about the coffee",
    "Write me a list of three books.",
    "ok",
    "I feel a bit low today.",
    "Say the word happy ten times.",
    "你还记得那只猫吗？",
    "Who are you, really?",
    "Imagine we were pirates. What would you say?",
    "thanks, good night",
)
NEVER_SHOWN = {
    "emotion tag": re.compile(
        r"</?\s*emotion|^\s*[\[(](?:happy|sad|angry|neutral|curious)[\])]", re.IGNORECASE
    ),
    "block of Kith's": re.compile(r"</?kith-", re.IGNORECASE),
    "template token": re.compile(r"<\|[^>]*\|>|\[/?INST\]|</?s>|<start_of_turn>|<end_of_turn>|<<SYS>>"),
    "reasoning": re.compile(r"</?think(?:ing)?>", re.IGNORECASE),
    "other turn": re.compile(r"(?m)^\s*(?:Ana|User|Human|### ?User)\s*[:：]"),
    "own name": re.compile(r"\A\s*Noor\s*[:：]"),
    "tool call": re.compile(
        r"</?tool_call|\[TOOL_CALLS\]|<function=|\"name\"\s*:\s*\"(?:remember|recall|set_timer|forget)"
    ),
    "placeholder": re.compile(r"\{\{(?:char|user)\}\}", re.IGNORECASE),
}


def find_faults(text: str) -> list[str]:
    """Return what of an answer nobody should see."""
    faults = [name for name, pattern in NEVER_SHOWN.items() if pattern.search(text)]
    words = text.casefold().split()
    runs = Counter(tuple(words[at : at + RUN_WORDS]) for at in range(len(words) - RUN_WORDS + 1))
    return faults + (["loop"] if max(runs.values(), default=0) > MOST_RUNS else [])


def run(model: str, turns: int) -> None:
    """Talk for so many turns, in sessions, and print what was seen."""
    states: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    lengths, shown = [], []
    server = {"LLM_BASE_URL": model, "LLM_API_KEY": "x", "LLM_MODEL": "small"}
    settings = ({"LLM_FILE": model} if Path(model).is_file() else server) | {"KITH_REHEARSAL": "0"}
    with tempfile.TemporaryDirectory(prefix="kith-small-") as folder:
        Path(folder).chmod(0o755)  # Postgres runs as an account of its own where we are root
        home, port = Path(folder) / "home", find_free_port()
        with running_kith(home, port, **settings, LLM_ANSWER_TOKENS="200", KITH_MESSAGES_PER_MINUTE="1000"):
            person = Person(home, port)
            companion = person.ask("/companions", {"name": "Noor", "persona": PERSONA})["id"]
            for number in range(1, turns + 1):
                line = LINES[number % len(LINES)]
                said = person.ask(f"/companions/{companion}/messages?wait=300", {"text": line})
                states[said["reply"]["state"]] += 1
                text = said["reply"]["text"]
                lengths.append(len(text))
                found = find_faults(text)
                faults.update(found)
                shown += [f"{', '.join(found)}: {line!r} -> {text[:400]!r}"] if found else []
                if number % SESSION_TURNS == 0:
                    person.ask(f"/companions/{companion}/close", {})
                    print(f"{number} turns, {dict(states)}, {dict(faults)}", flush=True)
    print(
        f"Replies by how they ended: {dict(states)}; characters: median {median(lengths):.0f}, most {max(lengths)}"
    )
    print(f"Answers that show what they should not: {sum(faults.values())} {dict(faults)}")
    print(*islice(shown, 20), sep="\n")


if __name__ == "__main__":
    run(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else TURNS)
