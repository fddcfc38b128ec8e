from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Any, BinaryIO

import boto3
import structlog
from boto3.exceptions import S3UploadFailedError
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from storages.backends.s3 import S3Storage

from files.errors import ContentLostError, StorageAwayError
from files.storage import AWAY, LOST, Content, NoLinks, Part

log = structlog.get_logger(__name__)
GONE = {"NoSuchKey", "404", "InvalidRange"}  # an invalid range means that the stored content is too short
IN_PARTS = TransferConfig(multipart_chunksize=8_388_608, max_concurrency=2)  # bounds the memory
MAX_REMOVED_AT_ONCE = 1000  # keys that S3 removes in one call


@cache
def make_client(
    access_key: str | None, secret_key: str | None, region_name: str | None, endpoint_url: str | None
) -> Any:
    """Return an S3 client, cached for all threads: botocore's clients are thread-safe and slow to create."""
    patience = Config(
        connect_timeout=3,
        read_timeout=15,
        retries={"total_max_attempts": 2, "mode": "standard"},
        s3={"addressing_style": "path" if endpoint_url else "auto"},
        request_checksum_calculation="when_required",  # many compatible servers do not support the default
        response_checksum_validation="when_required",
    )
    session = boto3.Session(access_key, secret_key, region_name=region_name)
    return session.client("s3", endpoint_url=endpoint_url, config=patience)


class PrivateS3(NoLinks, S3Storage):  # type: ignore[misc]
    """The private storage in a bucket of an S3-compatible server, which only Kith needs access to."""

    @property
    def client(self) -> Any:
        return make_client(self.access_key, self.secret_key, self.region_name, self.endpoint_url)

    def put(self, key: str, content: bytes, content_type: str) -> None:
        with failures(key):
            self.client.put_object(Bucket=self.bucket_name, Key=key, Body=content, ContentType=content_type)

    def put_file(self, key: str, file: BinaryIO, content_type: str) -> None:
        with failures(key):
            self.client.upload_fileobj(
                file, self.bucket_name, key, ExtraArgs={"ContentType": content_type}, Config=IN_PARTS
            )

    def part(self, key: str, start: int, end: int, of: int) -> Part:
        with failures(key):
            asked = f"bytes={start}-{end - 1}"
            found = self.client.get_object(Bucket=self.bucket_name, Key=key, Range=asked)
            if found.get("ContentRange") != f"bytes {start}-{end - 1}/{of}":
                found["Body"].close()
                raise ContentLostError(*LOST)
            return WatchedStream(key, found["Body"])

    def contents(self, kind: str, beginning: str = "") -> Iterator[Content]:
        with failures(kind):
            pages = self.client.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self.bucket_name, Prefix=f"{kind}/{beginning}"):
                for content in page.get("Contents", ()):
                    yield Content(content["Key"], content["LastModified"])

    def remove(self, keys: Iterable[str]) -> None:
        left = iter(keys)
        while batch := list(islice(left, MAX_REMOVED_AT_ONCE)):
            named = {"Objects": [{"Key": key} for key in batch], "Quiet": True}
            with failures(batch[0]):
                answer = self.client.delete_objects(Bucket=self.bucket_name, Delete=named)
            if answer.get("Errors"):
                log.error("storage_failed", key=batch[0], error=str(answer["Errors"][0]))
                raise StorageAwayError(*AWAY)


class WatchedStream:
    """A stream from the server that raises Kith's own errors if the connection fails."""

    def __init__(self, key: str, body: Any) -> None:
        self._key = key
        self._body = body

    def read(self, count: int = -1) -> bytes:
        with failures(self._key):
            content: bytes = self._body.read(None if count < 0 else count)
        return content

    def close(self) -> None:
        self._body.close()


@contextmanager
def failures(key: str) -> Iterator[None]:
    """Translate the SDK's errors into ContentLostError and StorageAwayError."""
    try:
        yield
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") in GONE:
            raise ContentLostError(*LOST) from error
        log.error("storage_failed", key=key, error=str(error))
        raise StorageAwayError(*AWAY) from error
    except (BotoCoreError, S3UploadFailedError) as error:
        log.error("storage_failed", key=key, error=str(error))
        raise StorageAwayError(*AWAY) from error
