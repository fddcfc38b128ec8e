"""What a companion wants to write unprompted, checked before it is sent: nothing may press on the person's feelings.

passages   a text's English and Chinese, in stretches of a few sentences
english    rules and hints for English
chinese    rules and hints for Chinese
*_topics   what texts are about, in both languages
features   what a passage looks like to the classifier, as numbers
weights    the classifier, fitted by `python -m bench.outgoing fit`
checking   the verdict
asking     a chat model's verdict beside it, where the operator wants that
"""

from safety.outgoing.asking import check_with_model
from safety.outgoing.checking import Verdict, check

__all__ = ["Verdict", "check", "check_with_model"]
