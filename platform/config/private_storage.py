"""Where private contents lie, as the settings say."""

from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured


def private_storage(env: environ.Env, folder: Path) -> dict[str, Any]:
    """The entry of STORAGES: that folder, or the bucket where S3_BUCKET names one."""
    said = {
        name: env.str(f"S3_{name}", "")
        for name in ("BUCKET", "ENDPOINT", "ACCESS_KEY", "SECRET_KEY", "REGION")
    }
    if not said["BUCKET"]:
        if any(said.values()):
            raise ImproperlyConfigured("Set S3_BUCKET as well: the other S3 settings do nothing without it.")
        return {"BACKEND": "files.storages.folder.PrivateFolder", "OPTIONS": {"location": folder}}
    if bool(said["ACCESS_KEY"]) != bool(said["SECRET_KEY"]):
        raise ImproperlyConfigured("Set S3_ACCESS_KEY and S3_SECRET_KEY together, or neither.")
    options = {
        "bucket_name": said["BUCKET"],
        "endpoint_url": said["ENDPOINT"] or None,
        "access_key": said["ACCESS_KEY"] or None,
        "secret_key": said["SECRET_KEY"] or None,
        "region_name": said["REGION"] or None,
    }
    return {"BACKEND": "files.storages.s3.PrivateS3", "OPTIONS": options}
