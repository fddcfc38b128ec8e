"""Words for the messages that are there already, by the thousand, and then their index; nobody waits for either."""

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

BATCH = 1000
# The next messages by their ids, and the last of them.
FILL = """
WITH batch AS (
    SELECT id, companion_id, text, said_at FROM companions_message WHERE id > %s ORDER BY id LIMIT %s
), filled AS (
    INSERT INTO companions_messagewords (message_id, said_at, words)
    SELECT id, said_at, companions_search_keys(companion_id, text, true) FROM batch ON CONFLICT DO NOTHING
)
SELECT id FROM batch ORDER BY id DESC LIMIT 1
"""


def fill(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    after = "00000000-0000-0000-0000-000000000000"
    with editor.connection.cursor() as cursor:
        while True:
            cursor.execute(FILL, [after, BATCH])
            row = cursor.fetchone()
            if row is None:
                return
            [after] = row


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("companions", "0030_search_words")]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
        AddIndexConcurrently(
            "messagewords", GinIndex(fields=["words"], name="message_words", fastupdate=False)
        ),
    ]
