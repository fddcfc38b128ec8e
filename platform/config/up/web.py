"""`python -m config.up.web`: serve pages, API and sockets.

With `--after FILE`, everything is loaded at once, and served once the file exists: `make up` creates it when the tables
are up to date.
"""

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

from config.up.ports import LOOPBACK

if TYPE_CHECKING:
    from asgiref.typing import ASGIApplication

LOOK_SECONDS = 0.05
FRAME_BYTES = 6_000_000  # the longest utterance of a call: a minute, 48,000 samples per second of two bytes
CLOSE_SECONDS = 3  # for connections to end


def main() -> None:
    """Load Kith, wait until it may be served, and serve it until the process is asked to stop."""
    parser = argparse.ArgumentParser(prog="config.up.web")
    parser.add_argument("--host", default=LOOPBACK)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--after", type=Path, help="serve once this file exists")
    options = parser.parse_args()
    from config.asgi import application  # loads all pages, after a wrong option has been refused

    while options.after and not options.after.exists():
        time.sleep(LOOK_SECONDS)
    serve(application, options.host, options.port)


def serve(application: "ASGIApplication", host: str, port: int) -> None:
    """Serve an ASGI application until the process is asked to stop."""
    uvicorn.run(
        application,
        host=host,
        port=port,
        workers=1,  # whatever WEB_CONCURRENCY says: more of them would each load all anew
        lifespan="on",
        http="config.http.protocol:PatientProtocol",
        ws="websockets-sansio",
        ws_max_size=FRAME_BYTES,
        access_log=False,
        # Client addresses are taken from KITH_PROXIES proxies alone; otherwise any local client could forge its own.
        proxy_headers=False,
        timeout_graceful_shutdown=CLOSE_SECONDS,
    )


if __name__ == "__main__":
    main()
