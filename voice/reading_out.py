"""What of a sentence is said aloud: its words, without what is there for the eye alone. Pure."""

import re

from voice.unspoken import EMOJI, FACES

CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.S)
TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
CUE = re.compile(r"\[[A-Za-z_ ]{1,24}\](?!\()")  # [joy]: what some engines take for the name of a voice
LINK = re.compile(r"!?\[([^\[\]]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s[^()]*)?\)")
ADDRESS = re.compile(r"<?(?:https?://|www\.)[^\s<>。，！？）】」]+>?", re.I)
HEADING = re.compile(r"^\s*(?:#{1,6}\s+|>\s?|[-+*•]\s+(?:\[[ xX]\]\s+)?)+")
SIGNS = re.compile(r"\*+|~~+|(?<!\w)_+|_+(?!\w)|\\(?=[^\w\s])|^\s*[-=_*]{3,}\s*$")
ENDS = r"[\s.!?…。！？~～\"'”’]*$"
AT_FIRST = re.compile(
    r"^\s*(?:\*(?!\*)[^*\n]+\*(?=\s|$|[\u2e80-\uffef])|\([^()\n]{1,80}\)(?=\s|$)|（[^（）\n]{1,60}）)\s*"
)
AT_LAST = re.compile(r"(?<!\*)\s\*(?!\*)[^*\n]+\*\s*$|（[^（）\n\d０-９]{1,40}）(?=" + ENDS + ")")
EMPTY = re.compile(r"[(（\[【「『“\"]\s*[)）\]】」』”\"]")
WITHOUT_WORDS = re.compile(r"[(（](?:[^()（）\w]|[_\u203f])*[)）]")


def reading_out(sentence: str) -> str:
    """What is said of it, "" where nothing is.

    Emoji, smileys, stage directions, code, links, tags and the signs of Markdown are not said; the words of a link are.
    """
    said = CODE.sub(" ", sentence)
    said = LINK.sub(r"\1", said)
    for shown in (TAG, ADDRESS, CUE):
        said = shown.sub(" ", said)
    said = HEADING.sub("", said)
    said = _without_directions(said)
    for shown in (WITHOUT_WORDS, FACES, EMOJI):
        said = shown.sub(" ", said)
    said = SIGNS.sub("", said).replace("|", ", ")
    said = _tidy(EMPTY.sub(" ", said))
    return said if any(sign.isalnum() for sign in said) else ""


def _without_directions(text: str) -> str:
    """*smiles* and （笑）where they stand by themselves: before the words, or after them; emphasis amid them stays."""
    while True:
        less = AT_LAST.sub("", AT_FIRST.sub("", text))
        if less == text:
            return text
        text = less


def _tidy(text: str) -> str:
    """White space as one space, and none before a sign that ends something."""
    return re.sub(r"\s+(?=[,.;:!?，。；：！？、…])", "", " ".join(text.split())).strip(" ,")
