"""What a person looks for on their pages, as a vector."""

from datetime import datetime

from accounts.gate import allowance
from accounts.rates import admit_to
from accounts.usage import Payer
from companions.models import Companion
from memory.embedding import embed_cue
from memory.spaces import CueVector


def vector_of(companion: Companion, cue: str, now: datetime, *, rate: str = "recalls") -> CueVector | None:
    """Embed the cue on the person's account, at most as often as settings.RATES says (GateError).

    None where the day's tokens are used up, or no embedder answers: words then decide alone.
    """
    admit_to(companion.user, rate, now)
    if allowance(companion.user, now).tokens_left == 0:
        return None
    return embed_cue(cue, Payer(companion.user_id, companion.pk), companion.names)
