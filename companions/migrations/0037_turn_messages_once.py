"""Leave what a replay changes of messages to the statement that wakes them or puts them asleep.

A row that is updated twice in one transaction finds no room on its page, and each of its references is checked anew:
that made most of the time in which a branch of thousands of messages is chosen. Nor is there room for a row whose change
stands in an index: what is still to be learnt from is found among a session's messages.
"""

from importlib import import_module

from django.db import migrations

BEFORE: str = import_module("companions.migrations.0034_room_to_fall_asleep").AFTER
BEGIN, END = "UPDATE companions_message message", "WHERE message.id = told.id;\n    "
AFTER = BEFORE[: BEFORE.index(BEGIN)] + BEFORE[BEFORE.index(END) + len(END) :]


class Migration(migrations.Migration):
    dependencies = [("companions", "0036_share_attachments")]

    operations = [
        migrations.RunSQL(AFTER, BEFORE),
        migrations.RemoveIndex("message", "message_not_learnt"),
    ]
