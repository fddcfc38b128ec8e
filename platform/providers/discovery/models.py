"""Model servers that were found, their models, and which models can chat."""

import re
from dataclasses import dataclass
from enum import StrEnum

# Names of models that cannot chat, for servers that do not say what a model is for.
NOT_FOR_CHAT = re.compile(
    r"(?i)embed|bge-|minilm|rerank|whisper|\btts\b|transcri|dall-e|gpt-image|moderation|realtime"
)


class Kind(StrEnum):
    """The kind of a server, as recognised by its answers."""

    OLLAMA = "Ollama"
    LM_STUDIO = "LM Studio"
    LLAMA_CPP = "llama.cpp"
    VLLM = "vLLM"
    KITH = "Kith"
    OTHER = ""


@dataclass(frozen=True, slots=True)
class Model:
    """A model, by its name in requests; what the server does not say is 0 or empty."""

    name: str
    description: str = ""  # family, size and quantisation, in the server's own words
    size_bytes: int = 0
    context_tokens: int = 0  # as it is run now; if it is not loaded, the most that it can have
    is_loaded: bool = False


@dataclass(frozen=True, slots=True)
class Server:
    """A server with the models that can chat, loaded ones first; `trouble` says why there are none."""

    kind: Kind
    base_url: str
    models: tuple[Model, ...] = ()
    trouble: str = ""


def can_chat(name: str) -> bool:
    """Return whether a model can probably chat, judged by its name alone."""
    return not NOT_FOR_CHAT.search(name)
