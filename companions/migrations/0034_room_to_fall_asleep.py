"""Choose a branch of thousands of messages in one stroke: room on each page, and a replay that takes messages together.

Room, as in memory's migration of that name. The journal's trigger on memories is not called for each row while a branch
is replayed, where it would do nothing. What is told of messages (their session, and that they are learnt from: an entry
for almost every one) and what was learnt are replayed by one statement each.
"""

from importlib import import_module

from django.db import migrations

UPDATED = "CREATE TRIGGER keep_memory_memory_update AFTER UPDATE ON memory_memory FOR EACH ROW"
CALL = "EXECUTE FUNCTION companions_keep_change();"
DROP = "DROP TRIGGER keep_memory_memory_update ON memory_memory;"
KEPT = "current_setting('kith.journal', true) IS DISTINCT FROM 'replaying'"

# Messages are neither made nor deleted in a replay, and memories only fall asleep and wake, so that they may go first. Of
# several entries of one message the last that is replayed wins, for each column by itself.
TOGETHER = """
    UPDATE companions_message message
    SET is_learnt = coalesce((told.content ->> 'is_learnt')::boolean, message.is_learnt),
        session_id = coalesce((told.content ->> 'session_id')::uuid, message.session_id)
    FROM (
        SELECT change.row::uuid AS id, jsonb_object_agg(
            value.key, value.value ORDER BY CASE WHEN is_forward THEN change.id ELSE -change.id END
        ) AS content
        FROM companions_journalentry change,
            jsonb_each(CASE WHEN is_forward THEN change.after ELSE change.before END) value
        WHERE change.companion_id = owner AND change.at = ANY(marks) AND change.is_undone = is_forward
          AND change.table = 'companions_message' AND change.kind = 'update'
        GROUP BY change.row
    ) told
    WHERE message.id = told.id;
    UPDATE memory_memory memory SET is_asleep = NOT is_forward
    FROM companions_journalentry change
    WHERE change.companion_id = owner AND change.at = ANY(marks) AND change.is_undone = is_forward
      AND change.table = 'memory_memory' AND change.kind = 'insert' AND memory.id = change.row::uuid;
"""
BEFORE: str = import_module("companions.migrations.0028_journal").REPLAY.replace(
    "CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"
)
SELECTED = "WHERE companion_id = owner AND at = ANY(marks) AND is_undone = is_forward\n        ORDER"
ONE_BY_ONE = """AND "table" <> 'companions_message'
          AND ("table", kind) <> ('memory_memory', 'insert')"""
AFTER = BEFORE.replace("BEGIN\n", f"BEGIN{TOGETHER}", 1).replace(
    SELECTED, SELECTED.replace("is_forward\n", f"is_forward {ONE_BY_ONE}\n")
)


class Migration(migrations.Migration):
    dependencies = [("companions", "0033_quotes"), ("memory", "0016_room_to_fall_asleep")]

    operations = [
        *(
            migrations.RunSQL(
                f"ALTER TABLE {table} SET (fillfactor = 70)", f"ALTER TABLE {table} RESET (fillfactor)"
            )
            for table in ("companions_message", "companions_journalentry")
        ),
        migrations.RunSQL(f"{DROP} {UPDATED} WHEN ({KEPT}) {CALL}", f"{DROP} {UPDATED} {CALL}"),
        migrations.RunSQL(AFTER, BEFORE),
    ]
