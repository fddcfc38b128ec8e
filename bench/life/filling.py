"""Many companions with many timers, written in SQL."""

from datetime import datetime, timedelta
from typing import Any

from django.db import connection

EACH = 50  # as many as one companion may have
PEOPLE = """
INSERT INTO accounts_user (password, is_superuser, is_staff, is_active, date_joined, email, name, about,
                           time_zone, language)
SELECT '!', false, false, true, %(now)s, 'n' || n || '@example.org', '', '', 'Europe/Berlin', ''
  FROM generate_series(1, %(people)s) n
"""
COMPANIONS = """
INSERT INTO companions_companion (id, user_id, name, persona, greeting, example_dialogue, tint, recall_policy,
                                  recall_parameters, idle_hours, created_at)
SELECT gen_random_uuid(), id, 'Juno', '', '', '', 40, 'kith', '{}', 8, %(now)s FROM accounts_user
"""
TIMERS = """
INSERT INTO companions_timer (id, companion_id, schedule, name, note, by, is_asked_for, state, due_at, look_at,
                              attempts, error, created_at)
SELECT gen_random_uuid(), companion.id, 'cron:0 8 * * *', '', 'Say good morning.', 'user', true, 'active',
       %(due)s + random() * interval '30 days', %(due)s, 0, '', %(now)s
  FROM companions_companion companion, generate_series(1, %(each)s) LIMIT %(timers)s
"""
ALIGN = "UPDATE companions_timer SET look_at = due_at"


def fill(timers: int, now: datetime) -> None:
    """So many timers, none due within a day of `now`, as many as fit on each companion; the tables are analysed."""
    people = -(-timers // EACH)
    named: dict[str, Any] = {"now": now, "due": now + timedelta(days=1)}
    named |= {"people": people, "each": EACH, "timers": timers}
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE accounts_user CASCADE")
        for statement in (PEOPLE, COMPANIONS, TIMERS, ALIGN):
            cursor.execute(statement, named)
        cursor.execute("VACUUM FULL ANALYZE companions_timer")
        cursor.execute("ANALYZE companions_companion, accounts_user")


LATER = "UPDATE companions_timer SET due_at = %(later)s, look_at = %(later)s WHERE look_at < %(later)s"
DUE = """
UPDATE companions_timer SET due_at = %(due)s, look_at = %(due)s
 WHERE id IN (SELECT id FROM companions_timer LIMIT %(timers)s)
"""


def come_due(timers: int, now: datetime) -> None:
    """So many of them are due now, the others are not; nothing of earlier rounds is left behind."""
    named: dict[str, Any] = {"later": now + timedelta(days=1), "due": now - timedelta(seconds=1)}
    with connection.cursor() as cursor:
        cursor.execute(LATER, named)
        cursor.execute(DUE, named | {"timers": timers})
        cursor.execute("VACUUM ANALYZE companions_timer")
        cursor.execute("CHECKPOINT")
