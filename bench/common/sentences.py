"""Sentences of an everyday life, drawn by a seeded chance from the word lists below: varied, and nobody's."""

import random

WHO = "my sister,my neighbour,an old friend,my cousin,the baker,my uncle,a colleague,the doctor,my landlady,our coach"
DID = (
    "gave me,asked about,borrowed,repaired,lost,found,painted,sold,hid,sent me,talked for hours about,laughed at,"
    "promised me,forgot,brought back,took a picture of,dreamed of,wrote about"
)
THING = (
    "a blue bicycle,the garden gate,two concert tickets,a jar of honey,my grandmother's clock,the rowing boat,"
    "a book on bees,the red scarf,an apple tree,the kitchen radio,a pair of skates,the piano,my passport,"
    "a letter from Lisbon,the tent,a basket of plums,the wooden chess set,a stray cat,the old camera,a map of Norway"
)
WHERE = (
    "by the canal,at the station,in the hospital garden,on the ferry,behind the school,at the market,in the attic,"
    "on the night train,near the lighthouse,in the library,at the swimming pool,under the bridge"
)
FELT = (
    "I was proud of it.,It made me sad for a while.,I still think of it.,I had to laugh.,We argued afterwards.,"
    "Nobody believed me.,It rained all day.,I slept badly that night.,I want to do it again.,It cost too much."
)
BEGAN = (
    "Yesterday,This morning,Last weekend,On Tuesday,After work,Before breakfast,In the holidays,Late at night"
)


def _one_of(words: str, chance: random.Random) -> str:
    return chance.choice(words.split(","))


def sentence(chance: random.Random) -> str:
    """Return something that a person might tell; there are about seven million such."""
    number = chance.randrange(2, 40)
    event = f"{_one_of(WHO, chance)} {_one_of(DID, chance)} {_one_of(THING, chance)} {_one_of(WHERE, chance)}"
    return f"{_one_of(BEGAN, chance)} at {number % 12 + 1}, {event}. {_one_of(FELT, chance)}"


def question(chance: random.Random) -> str:
    """Return something that a person might ask about such sentences."""
    who, thing, where = (_one_of(words, chance) for words in (WHO, THING, WHERE))
    return chance.choice(
        [
            f"What was it again with {who} and {thing}?",
            f"Who was it that I met {where}?",
            f"I am thinking of {thing} again, and of {who}.",
        ]
    )
