"""What goes, and whether a text tells of it: each text is read once, however many are compared with it."""

from datetime import UTC, datetime
from uuid import UUID

from memory.deletion.scope import DeletionScope, cached_reader
from memory.recall.traits import terms

NOBODY = UUID(int=0)
NOW = datetime(2023, 5, 2, 9, tzinfo=UTC)


def test_a_text_tells_of_what_goes_by_a_word_that_nothing_else_says() -> None:
    scope = DeletionScope(
        companion_id=NOBODY, now=NOW, names=["Emily"], texts=("Emily has a parrot called Coco.",)
    )
    assert scope.tells("Coco is a parrot.")
    assert scope.tells("Coco is a parrot.", ["A parrot was on television."])
    assert not scope.tells("A parrot.", ["A parrot was on television."])
    assert not scope.tells("Emily sails.")
    assert scope.lost_words(["A parrot was on television."]) == {*terms("Coco called")}


def test_what_is_left_is_read_once_for_all_sentences() -> None:
    read: list[str] = []

    def counted(text: str) -> list[str]:
        read.append(text)
        return terms(text)

    left, sentences = [f"Message {number}" for number in range(100)], [f"Sentence {n}" for n in range(20)]
    scope = DeletionScope(companion_id=NOBODY, now=NOW, texts=("Coco",), read=cached_reader(counted))
    more = scope.with_memories({NOBODY: "Parrot"})
    for sentence in sentences:
        assert not scope.tells(sentence, left)
        assert not more.tells(sentence, left)
    assert sorted(read) == sorted([*left, *sentences, "Coco", "Parrot"])
