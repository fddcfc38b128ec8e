"""Ports on this machine's loopback address, and whether the web process is healthy."""

import http.client
import secrets
import socket
from contextlib import closing
from urllib.parse import urlsplit

import psutil

LOOPBACK = "127.0.0.1"

# Below the ephemeral ports (Linux from 32768, macOS from 49152): of those, a client that calls a server which is just
# restarting could be given the server's own port, and would connect to itself.
PRIVATE_PORTS = range(15000, 32000)
HEALTH_TIMEOUT_SECONDS = 10.0


def is_free(port: int) -> bool:
    """Return whether a server could listen on this loopback port now; raise PermissionError if this user may not."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except PermissionError:
            raise
        except OSError:
            return False
    return not is_answering(port)


def is_answering(port: int) -> bool:
    """Return whether something accepts connections on this loopback port."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((LOOPBACK, port)) == 0


def find_free_port() -> int:
    """Return a loopback port that nothing listens on."""
    while True:
        port = secrets.choice(PRIVATE_PORTS)
        if is_free(port):
            return port


def is_healthy(port: int, kith_url: str, pid: int) -> bool:
    """Return whether the process with this id listens on the port, and /healthz answers 200.

    Another Kith may have taken the port. It is asked with the host of `kith_url` if that is set.
    """
    try:
        sockets = psutil.Process(pid).net_connections("tcp")
    except psutil.Error:  # it has ended
        return False
    if not any(found.status == psutil.CONN_LISTEN and found.laddr.port == port for found in sockets):
        return False
    host = urlsplit(kith_url).netloc or f"{LOOPBACK}:{port}"
    with closing(http.client.HTTPConnection(LOOPBACK, port, timeout=HEALTH_TIMEOUT_SECONDS)) as connection:
        try:
            connection.request("GET", "/healthz", headers={"Host": host})
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False
