"""The journal: triggers that keep what changes of a companion's mind, and the function that undoes and redoes it.

How it works stands in `companions.branches`.
"""

from django.db import migrations

# Tables whose rows have `companion_id`, and those that find it in another table by a column. What a memory comes from is
# not among them: it sleeps with the message, or with the memory, and is found again where that is deleted.
OWNED = (
    "companions_innerstate",
    "memory_block",
    "memory_change",
    "memory_diaryentry",
    "memory_pursuit",
    "memory_retraction",
    "memory_revision",
    "memory_slot",
    "memory_thread",
)
LINKS = {
    "memory_block_sources": ("block_id", "memory_block"),
    "memory_change_others": ("change_id", "memory_change"),
    "memory_slot_sources": ("slot_id", "memory_slot"),
}
# Of these only some columns, or some changes, follow the branch: a message's memory goes with the message itself.
PARTLY = (
    ("memory_memory", "INSERT", "NEW.message_id IS NULL"),
    ("memory_memory", "UPDATE", ""),
    ("companions_session", "INSERT", ""),
    (
        "companions_session",
        "UPDATE OF title, summary, summarised_until, ended_at, unsent, pressure, scratch, tool_groups",
        "",
    ),
    ("companions_message", "UPDATE OF session_id, is_learnt", ""),
    ("companions_timer", "INSERT", ""),
    ("companions_timer", "UPDATE OF state", "NEW.state = 'cancelled' OR OLD.state = 'cancelled'"),
    ("companions_companion", "UPDATE OF understood_until", ""),
)

KEEP = """
CREATE FUNCTION companions_keep_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    mode text := current_setting('kith.journal', true);
    old_row jsonb;
    new_row jsonb;
    this_row jsonb;
    owner uuid;
    tip uuid;
    was jsonb;
    is_now jsonb;
    columns text[];
BEGIN
    IF mode = 'replaying' THEN
        RETURN NULL;
    END IF;
    old_row := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
    new_row := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
    this_row := coalesce(new_row, old_row);
    IF mode = 'everywhere' THEN
        DELETE FROM companions_journalentry WHERE "table" = TG_TABLE_NAME AND row = this_row ->> 'id';
        RETURN NULL;
    END IF;
    IF TG_OP = 'UPDATE' THEN
        SELECT jsonb_object_agg(key, value), jsonb_object_agg(key, old_row -> key), array_agg(key)
        INTO is_now, was, columns
        FROM jsonb_each(new_row) WHERE value IS DISTINCT FROM old_row -> key;
        IF is_now IS NULL THEN
            RETURN NULL;
        END IF;
    ELSIF TG_OP = 'DELETE' THEN
        was := old_row;
    END IF;
    IF mode = 'erasing' AND TG_OP = 'DELETE' THEN
        DELETE FROM companions_journalentry WHERE "table" = TG_TABLE_NAME AND row = this_row ->> 'id';
        RETURN NULL;
    ELSIF mode = 'erasing' AND TG_OP = 'UPDATE' THEN
        UPDATE companions_journalentry SET before = before - columns, after = after - columns
        WHERE "table" = TG_TABLE_NAME AND row = this_row ->> 'id' AND kind = 'update' AND before ?| columns;
        RETURN NULL;
    END IF;
    IF TG_NARGS = 2 THEN
        EXECUTE format('SELECT companion_id FROM %I WHERE id = ($1 ->> %L)::%s', TG_ARGV[1], TG_ARGV[0],
            CASE WHEN TG_ARGV[1] = 'memory_change' THEN 'uuid' ELSE 'bigint' END) INTO owner USING this_row;
    ELSE
        owner := coalesce(this_row ->> 'companion_id', this_row ->> 'id');
    END IF;
    tip := nullif(current_setting('kith.at', true), '');
    IF tip IS NULL THEN
        SELECT head_id INTO tip FROM companions_conversation WHERE companion_id = owner;
    END IF;
    IF tip IS NULL THEN
        RETURN NULL;
    END IF;
    INSERT INTO companions_journalentry (companion_id, at, "table", row, kind, before, after, is_undone)
    VALUES (owner, tip, TG_TABLE_NAME, this_row ->> 'id', lower(TG_OP), was, is_now, false);
    RETURN NULL;
END $$;
"""

# Rows that others point at stay and fall asleep; all others leave their table while they are undone. To be called while
# `kith.journal` is `replaying`.
REPLAY = """
CREATE FUNCTION companions_replay(owner uuid, marks uuid[], is_forward boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    entry companions_journalentry;
    columns text;
    which text;
    content jsonb;
    is_there boolean;
BEGIN
    FOR entry IN
        SELECT * FROM companions_journalentry
        WHERE companion_id = owner AND at = ANY(marks) AND is_undone = is_forward
        ORDER BY CASE WHEN is_forward THEN id ELSE -id END
    LOOP
        which := format('id = (SELECT id FROM jsonb_populate_record(NULL::%I, %L))',
            entry.table, jsonb_build_object('id', entry.row));
        IF entry.kind = 'update' THEN
            content := CASE WHEN is_forward THEN entry.after ELSE entry.before END;
            CONTINUE WHEN content = '{}';
            SELECT string_agg(format('%I', key), ', ') INTO columns FROM jsonb_object_keys(content) key;
            EXECUTE format('UPDATE %I SET (%s) = (SELECT %s FROM jsonb_populate_record(NULL::%I, $1)) WHERE %s',
                entry.table, columns, columns, entry.table, which) USING content;
            CONTINUE;
        END IF;
        is_there := (entry.kind = 'insert') = is_forward;
        IF entry.table IN ('memory_memory', 'companions_session', 'companions_timer') THEN
            EXECUTE format('UPDATE %I SET is_asleep = $1 WHERE %s', entry.table, which) USING NOT is_there;
        ELSIF is_there THEN
            EXECUTE format(
                'INSERT INTO %I SELECT * FROM jsonb_populate_record(NULL::%I, $1) ON CONFLICT DO NOTHING',
                entry.table, entry.table) USING coalesce(entry.after, entry.before);
            UPDATE companions_journalentry SET before = NULL, after = NULL WHERE id = entry.id;
        ELSE
            EXECUTE format('DELETE FROM %I thing WHERE %s RETURNING to_jsonb(thing)', entry.table, which)
                INTO content;
            UPDATE companions_journalentry SET after = content WHERE id = entry.id;
        END IF;
    END LOOP;
    UPDATE companions_journalentry SET is_undone = NOT is_forward
    WHERE companion_id = owner AND at = ANY(marks) AND is_undone = is_forward;
END $$;
"""


def _trigger(table: str, events: str, condition: str = "", arguments: tuple[str, ...] = ()) -> str:
    name = f"keep_{table}_{events.split()[0].lower()}"
    when = f"WHEN ({condition})" if condition else ""
    given = ", ".join(f"'{argument}'" for argument in arguments)
    return (
        f"CREATE TRIGGER {name} AFTER {events} ON {table} FOR EACH ROW {when}"
        f" EXECUTE FUNCTION companions_keep_change({given});"
    )


EVERY = "INSERT OR UPDATE OR DELETE"
TRIGGERS = [
    *(_trigger(table, EVERY) for table in OWNED),
    *(_trigger(table, EVERY, arguments=arguments) for table, arguments in LINKS.items()),
    *(_trigger(*partly) for partly in PARTLY),
]

# What is not on the path of its conversation was parted from by earlier versions: it sleeps, and where an answer had
# replaced it, it no longer counts as replaced.
ASLEEP = """
WITH RECURSIVE path AS (
    SELECT head_id AS id FROM companions_conversation WHERE head_id IS NOT NULL
  UNION
    SELECT message.parent_id FROM companions_message message JOIN path USING (id) WHERE message.parent_id IS NOT NULL
), parted AS (
    UPDATE companions_message message SET is_asleep = true FROM companions_conversation conversation
    WHERE conversation.id = message.conversation_id AND conversation.head_id IS NOT NULL
      AND message.id NOT IN (SELECT id FROM path)
    RETURNING message.id
)
UPDATE memory_memory SET is_asleep = true, closed_at = NULL, replaced_by_id = NULL
WHERE message_id IN (SELECT id FROM parted);
"""

WITH_COMPANION = """
ALTER TABLE companions_journalentry ADD CONSTRAINT journal_of_a_companion FOREIGN KEY (companion_id)
    REFERENCES companions_companion (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
"""


class Migration(migrations.Migration):
    dependencies = [("companions", "0027_branches"), ("memory", "0015_branches")]

    operations = [
        migrations.RunSQL(ASLEEP, migrations.RunSQL.noop),
        migrations.RunSQL(
            WITH_COMPANION, "ALTER TABLE companions_journalentry DROP CONSTRAINT journal_of_a_companion"
        ),
        migrations.RunSQL(KEEP, "DROP FUNCTION companions_keep_change() CASCADE"),
        migrations.RunSQL(REPLAY, "DROP FUNCTION companions_replay(uuid, uuid[], boolean)"),
        migrations.RunSQL("\n".join(TRIGGERS), migrations.RunSQL.noop),
    ]
