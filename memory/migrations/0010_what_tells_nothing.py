from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from memory.recall.traits import Trait, tells_nothing

BATCH = 1000
TRAITS = 11  # the last of the four bytes that hold an entry's traits (memory.recall.candidates)


def mark_what_tells_nothing(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Set the trait of every memory that only asks or makes small talk; may run again."""
    manager = apps.get_model("memory", "Memory").objects.using(schema_editor.connection.alias)
    packed = manager.exclude(entry=b"").order_by("pk").only("text", "entry")
    batch = list(packed[:BATCH])
    while batch:
        changed = []
        for memory in batch:
            entry = bytearray(memory.entry)
            if tells_nothing(memory.text) and not entry[TRAITS] & Trait.TELLS_NOTHING:
                entry[TRAITS] |= Trait.TELLS_NOTHING
                memory.entry = bytes(entry)
                changed.append(memory)
        manager.bulk_update(changed, ["entry"])
        batch = list(packed.filter(pk__gt=batch[-1].pk)[:BATCH])


class Migration(migrations.Migration):
    atomic = False  # one transaction per batch, so that talk meanwhile waits for one batch at most
    dependencies = [("memory", "0009_everyday_sentences_of_a_space")]

    operations = [migrations.RunPython(mark_what_tells_nothing, migrations.RunPython.noop, elidable=True)]
