"""Signs that are looked at and not said: emoji, and faces made of punctuation."""

import re

EMOJI = re.compile(
    "["
    "\U0001f000-\U0001faff"  # pictures, flags, skin tones
    "\U000e0020-\U000e007f"  # the tags of regional flags
    "\u2600-\u27bf\u2b00-\u2bff\u2300-\u23ff"  # old signs: suns, hearts, stars, clocks
    "\u2190-\u21ff\u25a0-\u25ff"  # arrows and shapes
    "\u200d\u20e3\ufe0e\ufe0f"  # what joins and varies them
    "\u3030\u303d\u3297\u3299\u00a9\u00ae\u2122"
    "]+"
)
FACES = re.compile(
    r"(?:(?<=\s)|^)(?:"
    r"[:;=8][-o*']?[)(\]\[dDpP/\\|@3>]+"  # :) ;-) :D
    r"|[xX][dD]+|<3+|\^[_.-]?\^|[oO]_[oO]|[tT]_[tT]|>_<|-_-+|=_=|¯\\_\(ツ\)_/¯"
    r")(?=\s|$|[.,!?。，！？])"
)
