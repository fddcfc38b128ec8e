"""The lore of Kith's own characters: each entry is read when it is spoken of, and little of it otherwise."""

import pytest
from django.utils import timezone

from accounts.models import User
from companions.characters import load_characters
from companions.creation import begin_as
from companions.lore.turn import try_text

pytestmark = pytest.mark.django_db
SMALL_TALK = {
    "en": "Good morning. I slept well and I am a bit late for work, wish me luck.",
    "zh-hans": "早上好，昨晚睡得不错，上班要迟到了，先走啦。",
}


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_each_entry_is_read_when_it_is_spoken_of(alice: User, language: str) -> None:
    with_lore = [character for character in load_characters(language) if character.lorebook]
    assert len(with_lore) >= 3
    for character in with_lore:
        assert character.lorebook
        companion = begin_as(alice, character, character.greetings[0], timezone.now())
        entries = character.lorebook["entries"]
        assert 4 <= len(entries) <= 8
        for entry in entries:
            for key in entry["keys"]:
                said = f"Tell me about {key}, please." if language == "en" else f"跟我说说{key}吧。"
                placed = {one.name for one in try_text(companion, said, timezone.now(), seed=1).placed}
                assert entry["name"] in placed, key
        assert not try_text(companion, SMALL_TALK[language], timezone.now(), seed=1).placed
