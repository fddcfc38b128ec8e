"""The part of a sentence that is said aloud: its words, without what is meant only for the eye."""

import re

from text.strings import has_words

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
CODE = re.compile(r"```.*?(?:```|\Z)", re.S)
TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
CUE = re.compile(r"\[[A-Za-z_ ]{1,24}\](?!\()")  # [joy]: what some engines take for the name of a voice
LINK = re.compile(r"!?\[([^\[\]]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s[^()]*)?\)")
ADDRESS = re.compile(r"<?(?:https?://|www\.)[^\s<>。，！？）】」]+>?", re.I)
HEADING = re.compile(r"^\s*(?:#{1,6}\s+|>\s?|[-+*•]\s+(?:\[[ xX]\]\s+)?)+")
SIGNS = re.compile(r"`+|\*+|~~+|(?<!\w)_+|_+(?!\w)|\\(?=[^\w\s])|^\s*[-=_*]{3,}\s*$")
ENDS = r"[\s.!?…。！？~～\"'”’]*$"
AT_FIRST = re.compile(
    r"^\s*(?:\*(?!\*)[^*\n]+\*(?=\s|$|[\u2e80-\uffef])|\([^()\n]{1,80}\)(?=\s|$)|（[^（）\n]{1,60}）)\s*"
)
AT_LAST = re.compile(r"(?<!\*)\s\*(?!\*)[^*\n]+\*\s*$|（[^（）\n\d０-９]{1,40}）(?=" + ENDS + ")")
EMPTY = re.compile(r"[(（\[【「『“\"]\s*[)）\]】」』”\"]")
WITHOUT_WORDS = re.compile(r"[(（](?:[^()（）\w]|[_\u203f])*[)）]")


def filter_speech(sentence: str) -> str:
    """Return what is said aloud of the sentence, or "" if nothing is.

    Emoji, smileys, stage directions, blocks of code, addresses, tags and Markdown's marks are left out; the words of
    links and of code within a line stay.
    """
    text = LINK.sub(r"\1", CODE.sub(" ", sentence))
    for unspoken in (TAG, ADDRESS, CUE):
        text = unspoken.sub(" ", text)
    text = HEADING.sub("", text)
    # Stage directions like *smiles* and （笑）before or after the words; emphasis within the words stays.
    while (shorter := AT_LAST.sub("", AT_FIRST.sub("", text))) != text:
        text = shorter
    for unspoken in (WITHOUT_WORDS, FACES, EMOJI):
        text = unspoken.sub(" ", text)
    text = EMPTY.sub(" ", SIGNS.sub("", text).replace("|", ", "))
    text = re.sub(r"\s+(?=[,.;:!?，。；：！？、…])", "", " ".join(text.split())).strip(" ,")
    return text if has_words(text) else ""
