"""A small BERT encoder (Devlin et al. 2018, arXiv:1810.04805) as a graph for ONNX Runtime.

Operators of the domain com.microsoft are ONNX Runtime's own, documented with it: each does in one pass the work of
several standard ones.
"""

import os
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import numpy as np
from onnx import TensorProto, helper

from providers.embedding.embedder import Floats

WEIGHTS = "weights.bin"
PAGE_BYTES = 4096
HEADS = 12
LAYERS = 6
EPSILON = 1e-12
OWN = "com.microsoft"
VERSIONS = ("", 18), (OWN, 1)
FORMAT = 9
FLOAT = TensorProto.FLOAT
Tensors = dict[str, Floats]


def write_graph(tensors: Tensors, path: Path) -> None:
    """Write the encoder at `path` and its weights in a file beside it; the folder of both appears atomically.

    ONNX Runtime memory-maps weights that are in a file of their own, so that processes share them. Raise OSError if the
    disk is full. A folder that another process wrote meanwhile is kept.
    """
    graph, weights = build_encoder(tensors)
    folder = path.parent
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent) as temporary:
        unfinished = Path(temporary) / folder.name
        unfinished.mkdir()
        with (unfinished / WEIGHTS).open("wb") as file:
            for offset, weight in zip(_find_offsets(weights), weights.values(), strict=True):
                file.seek(offset)
                file.write(weight.data)
            _sync(file)
        with (unfinished / path.name).open("wb") as file:
            file.write(graph)
            _sync(file)
        try:
            unfinished.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise


def _sync(file: BinaryIO) -> None:
    """Flush the file to the disk, before its folder is renamed, so that a power cut leaves no damaged graph."""
    file.flush()
    os.fsync(file.fileno())


def _find_offsets(weights: Tensors) -> list[int]:
    """Return the offset of each weight in the file; each begins on a new page."""
    sizes = [-(-weight.nbytes // PAGE_BYTES) * PAGE_BYTES for weight in weights.values()]
    return list(accumulate(sizes, initial=0))[:-1]


class Graph:
    """An ONNX graph that is being built: nodes in sequence, each named like its output, and the weights that they use.

    The weights are stored outside of the graph.
    """

    def __init__(self, tensors: Tensors) -> None:
        self._tensors, self._nodes = tensors, list[Any]()
        self.weights: dict[str, Floats] = {}

    def add(self, operator: str, name: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node, and return the name of its output."""
        self._nodes.append(helper.make_node(operator, inputs, [name], domain=domain, **attributes))
        return name

    def add_own(self, operator: str, name: str, *inputs: str, **attributes: Any) -> str:
        """Add a node with one of ONNX Runtime's own operators, and return the name of its output."""
        return self.add(operator, name, *inputs, domain=OWN, **attributes)

    def take_weight(self, name: str) -> str:
        """Add a published weight to the graph's, and return its name."""
        return self.add_weight(name, self._tensors[name])

    def add_weight(self, name: str, value: Floats) -> str:
        """Add the value as a weight of that name, and return the name."""
        self.weights[name] = np.ascontiguousarray(value)
        return name

    def add_linear(self, name: str, hidden: str) -> str:
        """Multiply hidden states by a published matrix (outputs, inputs), without bias; return the output's name."""
        matrix = self._tensors[f"{name}.weight"].T
        return self.add("MatMul", name, hidden, self.add_weight(f"{name}.weight", matrix))

    def add_normalisation(self, name: str, step: str, earlier: str) -> str:
        """Normalise the sum of a linear step's output, its bias and the `earlier` states; return the output's name."""
        norm = [self.take_weight(f"{name}.LayerNorm.{kind}") for kind in ("weight", "bias")]
        bias = self.take_weight(f"{name}.dense.bias")
        return self.add_own("SkipLayerNormalization", name, step, earlier, *norm, bias, epsilon=EPSILON)

    def add_attention(self, name: str, hidden: str) -> str:
        """Add self-attention, with query, key and value in one multiplication, and return its output's name."""
        kinds = ("weight", "bias")
        parts = [
            [self._tensors[f"{name}.{part}.{kind}"] for part in ("query", "key", "value")] for kind in kinds
        ]
        weights, biases = (np.concatenate(part) for part in parts)
        inputs = self.add_weight(f"{name}.weights", weights.T), self.add_weight(f"{name}.biases", biases)
        return self.add_own("Attention", name, hidden, *inputs, "mask", num_heads=HEADS)

    def serialise(self, inputs: Mapping[str, tuple[int, list[str]]], output: str) -> bytes:
        """Return the serialised graph without the weights' values; `inputs` are types and shapes, keyed by name."""
        described = [helper.make_tensor_value_info(name, *kind) for name, kind in inputs.items()]
        result = helper.make_tensor_value_info(output, FLOAT, ["n", "length", "width"])
        offsets = _find_offsets(self.weights)
        external = [
            _describe_external(name, value, offset)
            for (name, value), offset in zip(self.weights.items(), offsets, strict=True)
        ]
        graph = helper.make_graph(self._nodes, "bert", described, [result], external)
        opsets = [helper.make_opsetid(*version) for version in VERSIONS]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=FORMAT)
        return bytes(model.SerializeToString())


def _describe_external(name: str, value: Floats, offset: int) -> TensorProto:
    """Return the graph's reference to a weight that is stored outside of it."""
    tensor = TensorProto(name=name, dims=value.shape, data_type=FLOAT, data_location=TensorProto.EXTERNAL)
    for key, entry in (("location", WEIGHTS), ("offset", str(offset)), ("length", str(value.nbytes))):
        tensor.external_data.add(key=key, value=entry)
    return tensor


def build_encoder(tensors: Tensors) -> tuple[bytes, dict[str, Floats]]:
    """Return the serialised graph and its weights.

    The graph's inputs are `ids` and their `mask` (1 for a token, 0 for padding), both of shape (n, length), and
    `places`, which are range(length); its output is the hidden states, of shape (n, length, width).
    """
    graph = Graph(tensors)
    hidden = _add_embeddings(graph, tensors)
    for layer in range(LAYERS):
        hidden = _add_layer(graph, hidden, f"encoder.layer.{layer}")
    inputs = {"ids": (TensorProto.INT64, ["n", "length"]), "mask": (TensorProto.INT32, ["n", "length"])}
    return graph.serialise(inputs | {"places": (TensorProto.INT64, ["length"])}, hidden), graph.weights


def _add_embeddings(graph: Graph, tensors: Tensors) -> str:
    """Sum each token's word and position embeddings; the latter include the type embedding of a first segment."""
    places = (
        tensors["embeddings.position_embeddings.weight"]
        + tensors["embeddings.token_type_embeddings.weight"][0]
    )
    words = graph.add("Gather", "words", graph.take_weight("embeddings.word_embeddings.weight"), "ids")
    where = graph.add("Gather", "where", graph.add_weight("embeddings.places", places), "places")
    norm = [graph.take_weight(f"embeddings.LayerNorm.{kind}") for kind in ("weight", "bias")]
    both = graph.add("Add", "read", words, where)
    return graph.add("LayerNormalization", "embedded", both, *norm, epsilon=EPSILON)


def _add_layer(graph: Graph, hidden: str, prefix: str) -> str:
    attention = graph.add_attention(f"{prefix}.attention.self", hidden)
    projected = graph.add_linear(f"{prefix}.attention.output.dense", attention)
    normalised = graph.add_normalisation(f"{prefix}.attention.output", projected, hidden)
    wide = graph.add_linear(f"{prefix}.intermediate.dense", normalised)
    activated = graph.add_own(
        "BiasGelu", f"{prefix}.bent", wide, graph.take_weight(f"{prefix}.intermediate.dense.bias")
    )
    narrow = graph.add_linear(f"{prefix}.output.dense", activated)
    return graph.add_normalisation(f"{prefix}.output", narrow, normalised)
