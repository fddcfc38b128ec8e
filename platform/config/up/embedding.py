"""The embedding model for Kith's own engine, if EMBEDDING_FILE names one."""

from collections.abc import Mapping
from pathlib import Path

from config.up.chat import ChosenModel
from config.up.engines import engine_program
from config.up.ports import LOOPBACK, find_free_port
from config.up.terminal import UpError
from providers.engine.gguf import ModelFileError, read_model_file
from providers.engine.plan import EMBEDDING_CONTEXT_TOKENS, measure_room, plan_engine
from providers.engine.registry import Health, WantedEngine, read_health


def choose_embedding(environment: Mapping[str, str]) -> ChosenModel | None:
    """Return the model of EMBEDDING_FILE, served by Kith's own engine, or None if no file is set.

    KITH_ENGINE_KEY is this run's. Raise UpError if the file is no model that this machine can run.
    """
    if not environment.get("EMBEDDING_FILE"):
        return None
    if environment.get("EMBEDDING_BASE_URL"):
        raise UpError(
            "EMBEDDING_FILE and EMBEDDING_BASE_URL are both set. Set only one: a file for Kith's own engine, or a server."
        )
    try:
        model = read_model_file(Path(environment["EMBEDDING_FILE"]).expanduser().resolve())
        plan = plan_engine(model, measure_room(), context_tokens=EMBEDDING_CONTEXT_TOKENS)
    except ModelFileError as error:
        raise UpError(f"EMBEDDING_FILE: {error}") from error
    name = environment.get("EMBEDDING_MODEL") or model.path.stem
    port = find_free_port()
    engine = WantedEngine(
        str(model.path), name, plan.context_tokens, plan.slots, plan.threads, is_embedding=True
    )
    return ChosenModel(
        f"Embedding model: {model.name}, run by Kith's own engine.",
        {
            "EMBEDDING_BASE_URL": f"http://{LOOPBACK}:{port}/v1",
            "EMBEDDING_API_KEY": environment["KITH_ENGINE_KEY"],
            "EMBEDDING_MODEL": name,
        },
        engine_program("engine-embedding", engine, port),
        lambda: read_health(port) is Health.READY,
    )
