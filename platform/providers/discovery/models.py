"""What is found of model servers: each with its models, and which of them can hold a talk."""

import re
from dataclasses import dataclass
from enum import StrEnum

# For servers that do not say what a model is for.
NOT_FOR_CHAT = re.compile(
    r"(?i)embed|bge-|minilm|rerank|whisper|\btts\b|transcri|dall-e|gpt-image|moderation|realtime"
)


class Kind(StrEnum):
    """What a server was recognised as, by its answers."""

    OLLAMA = "Ollama"
    LM_STUDIO = "LM Studio"
    LLAMA_CPP = "llama.cpp"
    VLLM = "vLLM"
    KITH = "Kith"
    OTHER = ""


@dataclass(frozen=True, slots=True)
class Model:
    """A model by the name that requests give it; what the server does not tell is 0 or empty."""

    name: str
    description: str = ""  # family, size and quantisation, in the server's own words
    size_bytes: int = 0
    context_tokens: int = 0  # that it reads at once as it is run now; of one not loaded, at most
    is_loaded: bool = False


@dataclass(frozen=True, slots=True)
class Server:
    """A server with the models that can hold a talk, the loaded ones first; `trouble` says why it has none."""

    kind: Kind
    base_url: str
    models: tuple[Model, ...] = ()
    trouble: str = ""


def can_chat(name: str) -> bool:
    """Return whether a model may hold a talk, by its name alone."""
    return not NOT_FOR_CHAT.search(name)
