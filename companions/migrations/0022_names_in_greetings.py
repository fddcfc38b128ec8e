from datetime import timedelta
from zoneinfo import ZoneInfo

from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, transaction
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import F
from django.utils import translation

from memory.store import entry_of
from text.placeholders import Macros
from text.strings import one_line

BATCH = 500
CREATION = timedelta(minutes=1)  # 0.1.0 said the greeting a moment before it stored the companion


def put_names_into_greetings(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Put the names into greetings that 0.1.0 said with `{{user}}` and `{{char}}`, and into their memories, which are
    embedded again; may run again.
    """
    alias = schema_editor.connection.alias
    memories = apps.get_model("memory", "Memory").objects.using(alias)
    embeddings = apps.get_model("memory", "Embedding").objects.using(alias)
    created_at = F("companion__created_at")  # a log that was imported later may precede the greeting
    first = (
        apps.get_model("companions", "Message")
        .objects.using(alias)
        .filter(role="assistant", job=None, said_at__range=(created_at - CREATION, created_at))
    )
    greetings = first.filter(text__regex=r"\{\{|<").select_related("companion__user").order_by("pk")
    batch = list(greetings[:BATCH])
    while batch:
        for message in batch:
            user = message.companion.user
            with translation.override(user.language or settings.LANGUAGE_CODE):
                name = one_line(user.name) or translation.gettext("you")
            text = Macros(char=one_line(message.companion.name), user=name).expand(message.text)
            if text == message.text:
                continue
            with transaction.atomic(using=alias):
                message.text = text
                message.save(update_fields=["text"])
                for memory in memories.filter(message=message):
                    zone = ZoneInfo(user.time_zone)
                    memory.text, memory.entry = text, entry_of(text, memory.speaker, memory.happened_at, zone)
                    memory.save(update_fields=["text", "entry"])
                    embeddings.filter(memory=memory).delete()
        batch = list(greetings.filter(pk__gt=batch[-1].pk)[:BATCH])


class Migration(migrations.Migration):
    atomic = False  # each greeting by itself: whoever talks meanwhile waits for none of the others
    dependencies = [
        ("accounts", "0008_user_about"),
        ("companions", "0021_what_may_mean_the_same"),
        ("memory", "0013_what_was_forgotten"),
    ]

    operations = [migrations.RunPython(put_names_into_greetings, migrations.RunPython.noop, elidable=True)]
