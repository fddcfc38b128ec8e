"""Transfer: companions from and to files of other systems, and exports of all data. Archives: `companions.archives`.

card_import   keeps an uploaded card and makes a companion of it; card_preview shows a card, card_export writes one
json_export   streams all data of one companion as JSON; account streams all of a person's data as a ZIP file
digital_life  the format of DigitalLife, with eight fields; digital_life_import and digital_life_export convert it
"""
