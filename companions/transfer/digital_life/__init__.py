"""DigitalLife's own eight fields, both ways.

shape     the fields as that system writes them, and what is refused of them
coming    a new companion made of them
going     a companion written as them
sentences texts as sentences, and sentences as texts
"""

from companions.transfer.digital_life.exporter import written
from companions.transfer.digital_life.importer import move_in
from companions.transfer.digital_life.schema import MOST_BYTES, Mind, ignored, read, too_large

__all__ = ["MOST_BYTES", "Mind", "ignored", "move_in", "read", "too_large", "written"]
