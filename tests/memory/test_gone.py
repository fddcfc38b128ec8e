"""What goes, and whether a text tells of it: each text is read once, however many are compared with it."""

from datetime import UTC, datetime
from uuid import UUID

from memory.terms import terms
from memory.unlearning.gone import Gone, reader

NOBODY = UUID(int=0)
NOW = datetime(2023, 5, 2, 9, tzinfo=UTC)


def test_a_text_tells_of_what_goes_by_a_word_that_nothing_else_says() -> None:
    gone = Gone(
        companion_id=NOBODY, now=NOW, zone=UTC, names=["Emily"], texts=("Emily has a parrot called Coco.",)
    )
    assert gone.tells("Coco is a parrot.")
    assert gone.tells("Coco is a parrot.", ["A parrot was on television."])
    assert not gone.tells("A parrot.", ["A parrot was on television."])
    assert not gone.tells("Emily sails.")
    assert gone.only_here(["A parrot was on television."]) == {*terms("Coco called")}


def test_what_is_left_is_read_once_for_all_sentences() -> None:
    read: list[str] = []

    def counted(text: str) -> list[str]:
        read.append(text)
        return terms(text)

    left, sentences = [f"Message {number}" for number in range(100)], [f"Sentence {n}" for n in range(20)]
    gone = Gone(companion_id=NOBODY, now=NOW, zone=UTC, texts=("Coco",), read=reader(counted))
    more = gone.and_memories({NOBODY: "Parrot"})
    for sentence in sentences:
        assert not gone.tells(sentence, left)
        assert not more.tells(sentence, left)
    assert sorted(read) == sorted([*left, *sentences, "Coco", "Parrot"])
