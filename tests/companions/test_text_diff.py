"""Two revisions side by side: what a sentence lost and won, but no long sentence word by word."""

from companions.conversations.revisions import GONE, MAX_CHARACTERS, NEW, SAME, Piece, compare


def test_a_changed_sentence_is_told_word_by_word() -> None:
    assert compare(["I like tea."], ["I like cocoa."]) == [
        [Piece("I like ", SAME), Piece("tea", GONE), Piece("cocoa", NEW), Piece(".", SAME)]
    ]


def test_a_long_sentence_is_another_one_as_soon_as_a_word_has_changed() -> None:
    short = "a " * (MAX_CHARACTERS // 2 - 1)
    assert len(compare([short + "b"], [short + "c"])) == 1
    long = short + "and more"
    assert compare([long], [long + "!"]) == [[Piece(long, GONE)], [Piece(long + "!", NEW)]]
    assert len(compare(["好" * 16_000], ["好" * 15_999 + "坏"])) == 2
