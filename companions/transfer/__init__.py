"""Moving: companions as files of other systems, and all of a person's as JSON. Whole ones move as `companions.archives`.

card_import   a companion of a card, which is kept meanwhile; card_preview shows what is in it, card_export writes one
json_export   all of one companion, as JSON, piece by piece; account has that of all of a person's, as a ZIP
digital_life  DigitalLife's own eight fields; digital_life_import and digital_life_export go both ways
"""
