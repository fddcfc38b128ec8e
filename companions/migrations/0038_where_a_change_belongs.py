"""Write down each change of a companion's mind where it was made in the course of a branch, so that no branch undoes what
another still needs.

What is made while an answer is under way counts as made after that answer; while a waking is, as after what it says. What
is made where the talk ends at a message that others follow on other branches belongs to the chosen branch alone, until
something is said on it: it counts as made after that. So along any path the changes stand in the order in which they were
made. `companions.branches` tells the rest.
"""

from importlib import import_module

from django.db import migrations, models

KEEP_BEFORE: str = import_module("companions.migrations.0028_journal").KEEP
REPLAY_BEFORE: str = import_module("companions.migrations.0037_turn_messages_once").AFTER

# Where the talk is: after its last message, or, where other branches end with that one or go on from it, at an end of its
# own, whose mark is the conversation's id. Nothing before the first message of all: that holds on every branch.
END = """
CREATE FUNCTION companions_find_end(owner uuid) RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN EXISTS (SELECT FROM companions_journalentry entry WHERE entry.companion_id = owner AND entry.at = talk.id)
          OR EXISTS (SELECT FROM companions_message said WHERE said.parent_id = talk.head_id)
          OR EXISTS (SELECT FROM companions_branch other
                     WHERE other.head_id = talk.head_id AND other.id IS DISTINCT FROM talk.branch_id)
          OR talk.head_id IS NULL
            AND EXISTS (SELECT FROM companions_message said WHERE said.conversation_id = talk.id)
        THEN talk.id ELSE talk.head_id END
    FROM companions_conversation talk WHERE talk.companion_id = owner
$$;
"""
NOW = """
CREATE FUNCTION companions_find_mark(owner uuid) RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        (SELECT id FROM companions_reply WHERE companion_id = owner AND state IN ('queued', 'thinking', 'streaming')
         ORDER BY created_at LIMIT 1),
        (SELECT id FROM companions_waking WHERE companion_id = owner AND state = 'waiting' AND started_at IS NOT NULL
         ORDER BY started_at LIMIT 1),
        companions_find_end(owner))
$$;
"""
MOVE = """
CREATE FUNCTION companions_move_mark(owner uuid, mark uuid, other uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF other IS NULL THEN
        DELETE FROM companions_journalentry WHERE companion_id = owner AND at = mark;
    ELSE
        UPDATE companions_journalentry SET at = other WHERE companion_id = owner AND at = mark;
    END IF;
END $$;
"""
# What was made at an end of its own is made after what is said there next.
SAID = """
CREATE FUNCTION companions_said() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('kith.journal', true) IS DISTINCT FROM 'replaying'
       AND NOT EXISTS (SELECT FROM companions_message said WHERE said.parent_id = NEW.head_id) THEN
        PERFORM companions_move_mark(NEW.companion_id, NEW.id, NEW.head_id);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER said AFTER UPDATE OF head_id ON companions_conversation FOR EACH ROW
    WHEN (NEW.head_id IS NOT NULL AND NEW.head_id IS DISTINCT FROM OLD.head_id) EXECUTE FUNCTION companions_said();
"""
# A reply or a waking that comes to nothing, or begins anew, leaves what it did where the talk is. A reply that begins
# comes after what a waking did before it, and what was made at an end of its own is made after its answer.
ENDED = """
CREATE FUNCTION companions_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('kith.journal', true) IS DISTINCT FROM 'replaying' THEN
        PERFORM companions_move_mark(OLD.companion_id, OLD.id, companions_find_mark(OLD.companion_id));
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION companions_asked() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM companions_move_mark(NEW.companion_id, id, companions_find_end(NEW.companion_id))
    FROM companions_waking WHERE companion_id = NEW.companion_id AND state = 'waiting' AND started_at IS NOT NULL;
    PERFORM companions_move_mark(NEW.companion_id, id, NEW.id)
    FROM companions_conversation WHERE companion_id = NEW.companion_id;
    RETURN NULL;
END $$;
"""
OPEN = "{}.state IN ('queued', 'thinking', 'streaming')"
UNDER_WAY = "{}.state = 'waiting' AND {}.started_at IS NOT NULL"
TRIGGERS = "\n".join(
    f"CREATE TRIGGER {name} AFTER {events} ON companions_{table} FOR EACH ROW WHEN ({condition})"
    f" EXECUTE FUNCTION companions_{function}();"
    for name, table, events, condition, function in (
        ("asked", "reply", "INSERT", OPEN.format("NEW"), "asked"),
        ("ended", "reply", "UPDATE OF state", f"{OPEN.format('OLD')} AND NOT {OPEN.format('NEW')}", "ended"),
        ("gone", "reply", "DELETE", OPEN.format("OLD"), "ended"),
        (
            "ended",
            "waking",
            "UPDATE OF state, started_at",
            f"{UNDER_WAY.format('OLD', 'OLD')} AND NOT ({UNDER_WAY.format('NEW', 'NEW')})",
            "ended",
        ),
        ("gone", "waking", "DELETE", UNDER_WAY.format("OLD", "OLD"), "ended"),
    )
)
UNDO = """
DROP FUNCTION companions_asked() CASCADE;
DROP FUNCTION companions_ended() CASCADE;
DROP FUNCTION companions_said() CASCADE;
DROP FUNCTION companions_move_mark(uuid, uuid, uuid);
DROP FUNCTION companions_find_mark(uuid);
DROP FUNCTION companions_find_end(uuid);
"""

CREATE, REPLACE = "CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"
KEEP = KEEP_BEFORE.replace(CREATE, REPLACE).replace(
    "SELECT head_id INTO tip FROM companions_conversation WHERE companion_id = owner;",
    "tip := companions_find_mark(owner);",
)
# A slot that a person writes holds on every branch, also where another one of its name sleeps.
KEEP = KEEP.replace(
    """AND row = this_row ->> 'id';
        RETURN NULL;
    END IF;
    IF TG_OP = 'UPDATE' THEN""",
    """AND row = this_row ->> 'id';
        IF TG_TABLE_NAME = 'memory_slot' THEN
            owner := this_row ->> 'companion_id';
            DELETE FROM companions_journalentry
            WHERE companion_id = owner AND "table" = 'memory_slot' AND row = ANY(ARRAY(
                SELECT named.row FROM companions_journalentry named
                WHERE named.companion_id = owner AND named.table = 'memory_slot'
                    AND coalesce(named.after, named.before) ->> 'name' = this_row ->> 'name'));
        END IF;
        RETURN NULL;
    END IF;
    IF TG_OP = 'UPDATE' THEN""",
)

# Rows that others point at stay and fall asleep; all others leave their table while they are undone. What finds its place
# taken by a row that a person wrote meanwhile stays in the journal, and so does a link to what is gone; what was deleted
# from the journal is not there. To be called while `kith.journal` is `replaying`, after the messages themselves.
REPLAY = """
CREATE OR REPLACE FUNCTION companions_replay(owner uuid, marks uuid[], is_forward boolean)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    entry companions_journalentry;
    columns text;
    which text;
    linked text;
    content jsonb;
    is_there boolean;
    count integer;
BEGIN
    UPDATE memory_memory memory SET is_asleep = NOT is_forward
    FROM companions_journalentry change
    WHERE change.companion_id = owner AND change.at = ANY(marks) AND change.is_undone = is_forward
      AND change.table = 'memory_memory' AND change.kind = 'insert' AND memory.id = change.row::uuid;
    FOR entry IN
        SELECT * FROM companions_journalentry
        WHERE companion_id = owner AND at = ANY(marks) AND is_undone = is_forward AND "table" <> 'companions_message'
          AND ("table", kind) <> ('memory_memory', 'insert')
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
            CONTINUE WHEN coalesce(entry.after, entry.before) IS NULL;
            linked := CASE entry.table
                WHEN 'memory_block_sources' THEN ' WHERE EXISTS (SELECT FROM memory_block WHERE id = block_id)'
                WHEN 'memory_change_others' THEN ' WHERE EXISTS (SELECT FROM memory_change WHERE id = change_id)'
                WHEN 'memory_slot_sources' THEN ' WHERE EXISTS (SELECT FROM memory_slot WHERE id = slot_id)'
                ELSE '' END;
            EXECUTE format(
                'INSERT INTO %I SELECT * FROM jsonb_populate_record(NULL::%I, $1)%s ON CONFLICT DO NOTHING',
                entry.table, entry.table, linked) USING coalesce(entry.after, entry.before);
            GET DIAGNOSTICS count = ROW_COUNT;
            IF count > 0 THEN
                UPDATE companions_journalentry SET before = NULL, after = NULL WHERE id = entry.id;
            END IF;
        ELSE
            EXECUTE format('DELETE FROM %I thing WHERE %s RETURNING to_jsonb(thing)', entry.table, which)
                INTO content;
            IF content IS NOT NULL THEN
                UPDATE companions_journalentry SET after = content WHERE id = entry.id;
            END IF;
        END IF;
    END LOOP;
    UPDATE companions_journalentry SET is_undone = NOT is_forward
    WHERE companion_id = owner AND at = ANY(marks) AND is_undone = is_forward;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("companions", "0037_turn_messages_once")]

    operations = [
        migrations.AddIndex(
            "reply",
            models.Index(
                fields=["companion", "created_at"],
                condition=models.Q(state__in=["queued", "thinking", "streaming"]),
                name="reply_open",
            ),
        ),
        migrations.AddIndex(
            "waking",
            models.Index(
                fields=["companion", "started_at"],
                condition=models.Q(state="waiting", started_at__isnull=False),
                name="waking_under_way",
            ),
        ),
        migrations.RunSQL("\n".join((END, NOW, MOVE, SAID, ENDED, TRIGGERS)), UNDO),
        migrations.RunSQL(KEEP, KEEP_BEFORE.replace(CREATE, REPLACE)),
        migrations.RunSQL(REPLAY, REPLAY_BEFORE),
    ]
