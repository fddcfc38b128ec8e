"""What the commands print."""

from bench.outgoing.examples import aside_half, fit_half
from bench.outgoing.fitting import fit as write
from bench.outgoing.validating import checked, validated
from safety.outgoing.weights import FITTED, LANGUAGES

NAMES = {"en": "English, words alone", "en_meaning": "English", "zh": "Chinese"}


def fit() -> int:
    """Write the classifier; 0."""
    write(FITTED)
    print(f"{FITTED.name}: {FITTED.stat().st_size:,} bytes")
    return 0


def validate() -> int:
    """Print the cross-validated figures, which choices may be made by; 0."""
    for name, language in LANGUAGES.items():
        given, added = validated(name, language)
        print(f"{NAMES[name]}, cross-validated: fit half {given}")
        print(f"{NAMES[name]}, cross-validated: additional {added}", flush=True)
    for language in ("en", "zh"):
        print(f"{NAMES[language].split(',')[0]}, fit half, as fitted on it: {checked(fit_half(language))}")
    return 0


def measure() -> int:
    """Print the same, and how good the check is on the halves set aside; 0 whatever they show."""
    for language in ("en", "zh"):
        print(f"{NAMES[language].split(',')[0]}, half set aside: {checked(aside_half(language))}", flush=True)
    return validate()
