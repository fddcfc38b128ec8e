"""python -m providers.engine --file F --port N: serve a model file by llama.cpp's server until it is told to end.

The server takes the key that stands in KITH_ENGINE_KEY, and listens on this machine alone.
"""

import argparse
import os
import signal
import sys
import time
from pathlib import Path

from providers.engine.gguf import ModelFileError, read_model_file

# llama.cpp writes its log from a thread that cannot be awaited: after this pause, the line written here comes last.
LOG_SECONDS = 1.0


def main() -> int:
    """Serve the model until a signal ends the process. Return 1 if it cannot be served, after a line that says why."""
    parser = argparse.ArgumentParser(prog="python -m providers.engine", description=__doc__)
    parser.add_argument("--file", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--name", required=True, help="what the model is called in requests")
    parser.add_argument("--context", type=int, required=True, help="tokens of each request")
    parser.add_argument("--slots", type=int, default=1, help="requests that are answered at once")
    parser.add_argument("--threads", type=int, default=0, help="0 leaves one core to the rest")
    parser.add_argument("--embedding", action="store_true", help="embed texts; it does not chat then")
    options = parser.parse_args()
    try:
        model = read_model_file(options.file)
    except ModelFileError as error:
        return _refuse(str(error))
    try:
        import xllamacpp
    except ImportError:
        return _refuse("The engine is not installed: pip install -r requirements-engine.txt")
    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(options.file)
    wanted.model_alias = {options.name}
    wanted.hostnames, wanted.port = ["127.0.0.1"], options.port
    wanted.api_keys = [key] if (key := os.environ.get("KITH_ENGINE_KEY")) else []
    context = min(options.context, model.context_tokens or options.context)
    wanted.n_ctx, wanted.n_parallel = context * options.slots, options.slots
    wanted.cpuparams.n_threads = options.threads or max((os.cpu_count() or 1) - 1, 1)
    wanted.use_jinja, wanted.ui = True, False
    if options.embedding:
        wanted.embedding = True
        wanted.n_batch = wanted.n_ubatch = wanted.n_ctx  # each text is computed in one piece
        if not model.has_pooling:
            wanted.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    try:
        server = xllamacpp.Server(wanted)
    except RuntimeError:
        time.sleep(LOG_SECONDS)
        return _refuse(f"llama.cpp cannot run {options.file}; why stands in the lines above.")
    sys.stdout.write(f"The engine listens at {server.listening_address}/v1\n")
    sys.stdout.flush()
    while True:
        signal.pause()


def _refuse(why: str) -> int:
    sys.stderr.write(why + "\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
