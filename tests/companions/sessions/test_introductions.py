"""By which name a user introduces themselves, if their account has none."""

import pytest

from companions.sessions.transcript import INTRODUCES_ONESELF


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("My name is Ana, and I work in Faro.", "Ana"),
        ("Hi there! I'm Tom and I am tired.", "Tom"),
        ("我叫林晓，在苏州当老师。", "林晓"),
        ("我的名字是小林。", "小林"),
        ("I'm called away.", None),
        ("My sister is called Eva.", None),
        ("Hi, I'm tired.", None),
        ("我叫外卖。", None),
        ("我叫了车，等一下。", None),
        ("明天早上叫我起床。", None),
        ("我叫他来。", None),
    ],
)
def test_a_name_is_told_and_not_what_only_looks_like_one(text: str, name: str | None) -> None:
    match = INTRODUCES_ONESELF.search(text)
    assert (match and match[match.lastindex or 0]) == name
