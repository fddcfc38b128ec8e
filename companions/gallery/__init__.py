"""A gallery of characters: people publish their companions' cards, operators approve them, anyone may start with one.

publication  the exact texts of a companion that are published, and what its person should know before
submission   submitting a card for approval, withdrawing it, deleting it permanently
catalogue    what a user may see: Kith's own characters and approved ones, by tags, language and age
adoption     making a companion of a published character
decisions    approving, rejecting and taking down by operators, with audit entries; reports

A publication is a copy. It contains nothing said or remembered, none of the person's own lorebooks, and no name of
theirs but the one that they choose for it. It survives its companion, and is deleted with the publisher's account.
"""
