"""What the talk is searched by: the words of each message, kept by the database itself.

Each is kept as a number, made of whose it is and the word, so that one person's search never looks at another's. Of a
word in letters all its beginnings are kept, so that "exa" finds "exam"; of Chinese and other scripts without spaces each
character and each two that follow one another; of pictures each one.
"""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
from django.db import migrations, models

# Scripts without spaces; pictures; and what is neither and no blank or mark: each class is told by its characters, for
# what counts as a letter depends on the database's locale.
UNSPACED = (
    "\\u0E00-\\u0EFF\\u1000-\\u109F\\u1780-\\u17FF\\u2E80-\\u2FDF\\u3005-\\u3007\\u3040-\\u30FF\\u3100-\\u312F\\u31A0-\\u31BF"
    "\\u31F0-\\u31FF\\u3400-\\u4DBF\\u4E00-\\u9FFF\\uA000-\\uA4CF\\uAC00-\\uD7AF\\uF900-\\uFAFF\\U00020000-\\U0003FFFF"
)
PICTURES = "\\u2190-\\u21FF\\u2300-\\u23FF\\u25A0-\\u27BF\\u2B00-\\u2BFF\\U0001F000-\\U0001FAFF"
MARKS = (
    "\\u0001-\\u002F\\u003A-\\u0040\\u005B-\\u0060\\u007B-\\u00A9\\u00AB-\\u00B4\\u00B6-\\u00B9\\u00BB-\\u00BF\\u00D7\\u00F7"
    "\\u2000-\\u206F\\u20A0-\\u20CF\\u2E00-\\u2E7F\\u3000-\\u3004\\u3008-\\u303F\\uFE00-\\uFE6F\\uFFF0-\\uFFFF"
    "\\U000E0000-\\U000E01FF"
)
PATTERN = f"([{UNSPACED}]+)|([{PICTURES}])|([^{MARKS}{UNSPACED}{PICTURES}]+)"

KEYS = """
CREATE FUNCTION companions_search_keys(owner uuid, said text, is_kept boolean) RETURNS integer[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(array_agg(DISTINCT (hashtextextended(piece, hashtextextended(owner::text, 0)) & 2147483647)::integer), '{}')
    FROM regexp_matches(lower(normalize(said, NFKC)), 'PATTERN', 'g') AS found (parts)
    CROSS JOIN LATERAL (
        SELECT substr(parts[1], at, 2) FROM generate_series(1, length(parts[1]) - 1) AS at
      UNION ALL
        SELECT substr(parts[1], at, 1) FROM generate_series(1, length(parts[1])) AS at WHERE is_kept OR length(parts[1]) = 1
      UNION ALL
        SELECT parts[2] WHERE parts[2] IS NOT NULL
      UNION ALL
        SELECT left(parts[3], size)
        FROM generate_series(CASE WHEN is_kept THEN 2 ELSE least(length(parts[3]), 24) END, least(length(parts[3]), 24)) AS size
        WHERE size > 1 AND parts[3] IS NOT NULL
    ) AS pieces (piece)
$$;
""".replace("PATTERN", PATTERN)
KEEP = """
CREATE FUNCTION companions_keep_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO companions_messagewords (message_id, said_at, words)
    VALUES (NEW.id, NEW.said_at, companions_search_keys(NEW.companion_id, NEW.text, true))
    ON CONFLICT (message_id) DO UPDATE SET said_at = excluded.said_at, words = excluded.words;
    RETURN NULL;
END $$;
CREATE TRIGGER keep_words_insert AFTER INSERT ON companions_message FOR EACH ROW EXECUTE FUNCTION companions_keep_words();
CREATE TRIGGER keep_words_update AFTER UPDATE OF text, said_at ON companions_message FOR EACH ROW
    WHEN ((OLD.text, OLD.said_at) IS DISTINCT FROM (NEW.text, NEW.said_at)) EXECUTE FUNCTION companions_keep_words();
"""
WITH_MESSAGE = """
ALTER TABLE companions_messagewords ADD CONSTRAINT words_of_a_message FOREIGN KEY (message_id)
    REFERENCES companions_message (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
"""


class Migration(migrations.Migration):
    dependencies = [("companions", "0029_suggestions")]

    operations = [
        migrations.CreateModel(
            name="MessageWords",
            fields=[
                (
                    "message",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        primary_key=True,
                        related_name="search_words",
                        serialize=False,
                        to="companions.message",
                        verbose_name="message",
                    ),
                ),
                ("said_at", models.DateTimeField(verbose_name="said")),
                (
                    "words",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.IntegerField(), verbose_name="words"
                    ),
                ),
            ],
            options={"verbose_name": "words of a message", "verbose_name_plural": "words of messages"},
        ),
        migrations.RunSQL(
            WITH_MESSAGE, "ALTER TABLE companions_messagewords DROP CONSTRAINT words_of_a_message"
        ),
        migrations.RunSQL(KEYS, "DROP FUNCTION companions_search_keys(uuid, text, boolean)"),
        migrations.RunSQL(KEEP, "DROP FUNCTION companions_keep_words() CASCADE"),
    ]
