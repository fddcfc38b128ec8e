from django import template

from companions.models import Companion
from voice.models import Voice

register = template.Library()


@register.inclusion_tag("voice/_reads_aloud.html")
def reads_aloud(companion: Companion) -> dict[str, object]:
    """The switch in the talk: whether answers are read aloud as they come."""
    is_on = Voice.objects.filter(companion=companion, reads_aloud=True).exists()
    return {"companion": companion, "is_on": is_on}
