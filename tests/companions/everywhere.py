"""Looking for a word in every place that Kith keeps words in."""

from collections.abc import Iterator

import redis
from django.db import connections


def tables_with(word: str, alias: str = "default") -> dict[str, int]:
    """Every table of the database in which a row holds the word in any column, with the number of such rows."""
    with connections[alias].cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        counts = " UNION ALL ".join(
            f"SELECT '{table}', count(*) FROM \"{table}\" AS line WHERE line::text ILIKE %(word)s"
            for (table,) in cursor.fetchall()
        )
        cursor.execute(counts, {"word": f"%{word}%"})
        return {table: count for table, count in cursor.fetchall() if count}


def keys_with(word: str, url: str) -> list[str]:
    """Every key of the Redis database that holds the word, in its name or in what it keeps."""
    with redis.Redis.from_url(url) as client:
        return [
            key.decode()
            for key in client.scan_iter(count=1000)
            if any(word.lower().encode() in part.lower() for part in (key, *_kept(client, key)))
        ]


def _kept(client: redis.Redis, key: bytes) -> Iterator[bytes]:
    match client.type(key):
        case b"string":
            yield client.get(key) or b""
        case b"list":
            yield from client.lrange(key, 0, -1)
        case b"set":
            yield from client.smembers(key)
        case b"zset":
            yield from client.zrange(key, 0, -1)
        case b"hash":
            yield from (part for pair in client.hgetall(key).items() for part in pair)
        case b"stream":
            yield from (part for _, fields in client.xrange(key) for pair in fields.items() for part in pair)
