"""How servers' certificates are checked."""

import ssl
from functools import cache

import httpx2


@cache
def get_tls_context() -> ssl.SSLContext:
    """Return the one TLS context of the process: making another takes 25 ms, to read the trusted certificates."""
    return httpx2.create_ssl_context()
