"""In which language a sentence is, as far as its script tells."""

import re

SCRIPTS = (
    (re.compile(r"[\u3040-\u30ff]"), "ja"),
    (re.compile(r"[\uac00-\ud7af\u1100-\u11ff]"), "ko"),
    (re.compile(r"[\u3400-\u9fff\uf900-\ufaff]"), "zh"),
    (re.compile(r"[\u0400-\u04ff]"), "ru"),
    (re.compile(r"[\u0370-\u03ff]"), "el"),
    (re.compile(r"[\u0590-\u05ff]"), "he"),
    (re.compile(r"[\u0600-\u06ff]"), "ar"),
    (re.compile(r"[\u0900-\u097f]"), "hi"),
)
LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
LANGUAGES_OF_A_SCRIPT = {
    "zh": {"zh", "yue", "ja"},
    "ru": {"ru", "uk", "bg", "sr", "mk", "be", "kk"},
    "ar": {"ar", "fa", "ur"},
    "hi": {"hi", "mr", "ne"},
}


def detect_language(text: str, told: str) -> str:
    """Return a tag of two or three letters: what was told, where the script of the text agrees; else its script's."""
    short = told.lower().replace("_", "-").split("-")[0]
    for script, language in SCRIPTS:
        if script.search(text):
            return short if short in LANGUAGES_OF_A_SCRIPT.get(language, {language}) else language
    is_of_another_script = any(short == language for _, language in SCRIPTS) and LATIN.search(text)
    return short if short and not is_of_another_script else "en"
