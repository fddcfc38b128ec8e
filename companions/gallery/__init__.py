"""A gallery of characters: people publish their companions' cards, operators approve them, everybody may start with one.

publication  what of a companion goes out, word for word, and what its person should know before it does
submission   a card sent in for approval, withdrawn, deleted for good
catalogue    what somebody may see: Kith's own characters, and what operators approved, by tags, language and age
adoption     a companion made of a published character
decisions    operators approve, reject and take down, on record; reports

A publication is a copy: nothing said or remembered, no book of the person's, and no name of theirs but the one that they
choose for it. Deleting the companion leaves it; deleting the account takes it away.
"""
