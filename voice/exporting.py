"""What a companion's file tells of its voice, and of what was said aloud to it."""

from companions.moving.exporting import SECTIONS
from voice.models import Recording, Voice

SECTIONS["voices"] = Voice, "companion"
SECTIONS["recordings"] = Recording, "companion"
