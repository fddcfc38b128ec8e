"""python -m providers.rehearsal --port N: serve the rehearsal model until it is told to end."""

import argparse
import socket
import sys

from aiohttp import web

from providers.rehearsal.server import build_app


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m providers.rehearsal", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes any free one and prints it")
    parser.add_argument("--piece-milliseconds", type=float, default=25.0, help="pause after each piece")
    options = parser.parse_args()
    serve(build_app(options.piece_milliseconds / 1000), options.host, options.port)


def serve(app: web.Application, host: str, port: int) -> None:
    """Print the server's address, and serve the application until the process is told to end."""
    with socket.create_server((host, port)) as listener:
        host, port = listener.getsockname()[:2]
        sys.stdout.write(f"The rehearsal model listens at http://{host}:{port}/v1\n")
        sys.stdout.flush()
        web.run_app(app, sock=listener, access_log=None, print=None, shutdown_timeout=0.5)


if __name__ == "__main__":
    main()
