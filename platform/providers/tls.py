"""How servers' certificates are checked."""

import ssl
from functools import cache

import httpx2


@cache
def get_tls_context() -> ssl.SSLContext:
    """Return one for all clients of the process: each would take 25 ms to read the certificates that it trusts."""
    return httpx2.create_ssl_context()
