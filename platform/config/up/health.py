"""Whether the web process answers."""

import http.client
from contextlib import closing
from urllib.parse import urlsplit

from config.up.ports import LOOPBACK

SECONDS = 10.0


def is_healthy(port: int, kith_url: str) -> bool:
    """Whether /healthz says 200, asked under the public name where Kith has one."""
    host = urlsplit(kith_url).netloc or f"{LOOPBACK}:{port}"
    with closing(http.client.HTTPConnection(LOOPBACK, port, timeout=SECONDS)) as connection:
        try:
            connection.request("GET", "/healthz", headers={"Host": host})
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False
