"""A small BERT encoder (Devlin et al. 2018, arXiv:1810.04805) as a graph for ONNX Runtime.

Operators of the domain com.microsoft are ONNX Runtime's own, documented with it: each does in one pass what takes several
of the standard ones.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from providers.minilm.weights import Tensors
from providers.vectors import Floats

HEADS = 12
LAYERS = 6
EPSILON = 1e-12
OWN = "com.microsoft"
VERSIONS = ("", 18), (OWN, 1)
FORMAT = 9
FLOAT = TensorProto.FLOAT


class Graph:
    """Nodes, one after the other, each named as its output is; and the weights that they name, which lie outside."""

    def __init__(self, tensors: Tensors) -> None:
        self._tensors, self._nodes = tensors, list[Any]()
        self.weights: dict[str, Floats] = {}

    def add(self, operator: str, name: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """The name of the new node's output."""
        self._nodes.append(helper.make_node(operator, inputs, [name], domain=domain, **attributes))
        return name

    def own(self, operator: str, name: str, *inputs: str, **attributes: Any) -> str:
        """The same, of an operator of ONNX Runtime's own."""
        return self.add(operator, name, *inputs, domain=OWN, **attributes)

    def weight(self, name: str) -> str:
        """The name of the published weight of that name."""
        return self.given(name, self._tensors[name])

    def given(self, name: str, value: Floats) -> str:
        """The name under which the value is known."""
        self.weights[name] = np.ascontiguousarray(value)
        return name

    def linear(self, name: str, hidden: str) -> str:
        """Hidden states times a published matrix (outputs, inputs), without its bias."""
        matrix = self._tensors[f"{name}.weight"].T
        return self.add("MatMul", name, hidden, self.given(f"{name}.weight", matrix))

    def levelled(self, name: str, step: str, earlier: str) -> str:
        """Layer normalisation of what a linear step gave, with its bias, and of what there was before it."""
        norm = [self.weight(f"{name}.LayerNorm.{kind}") for kind in ("weight", "bias")]
        bias = self.weight(f"{name}.dense.bias")
        return self.own("SkipLayerNormalization", name, step, earlier, *norm, bias, epsilon=EPSILON)

    def attended(self, name: str, hidden: str) -> str:
        """Self-attention, with query, key and value in one multiplication."""
        kinds = ("weight", "bias")
        parts = [
            [self._tensors[f"{name}.{part}.{kind}"] for part in ("query", "key", "value")] for kind in kinds
        ]
        weights, biases = (np.concatenate(one) for one in parts)
        inputs = self.given(f"{name}.weights", weights.T), self.given(f"{name}.biases", biases)
        return self.own("Attention", name, hidden, *inputs, "mask", num_heads=HEADS)

    def serialised(self, inputs: Mapping[str, tuple[int, list[str]]], output: str) -> bytes:
        """All but the weights' values; `inputs` are types and shapes by their names."""
        told = [helper.make_tensor_value_info(name, *kind) for name, kind in inputs.items()]
        result = helper.make_tensor_value_info(output, FLOAT, ["n", "length", "width"])
        outside = [_outside(name, value) for name, value in self.weights.items()]
        graph = helper.make_graph(self._nodes, "bert", told, [result], outside)
        opsets = [helper.make_opsetid(*version) for version in VERSIONS]
        made = helper.make_model(graph, opset_imports=opsets, ir_version=FORMAT)
        return bytes(made.SerializeToString())


def _outside(name: str, value: Floats) -> TensorProto:
    """What stands for a weight in the graph."""
    tensor = TensorProto(name=name, dims=value.shape, data_type=FLOAT, data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=name)
    return tensor


def encoder(tensors: Tensors) -> tuple[bytes, dict[str, Floats]]:
    """The graph and its weights: from `ids` and their `mask` (1 where there is a token), both (n, length), to what each
    is understood as, (n, length, width); `places` (length,) count from 0.
    """
    graph = Graph(tensors)
    hidden = _embedded(graph, tensors)
    for layer in range(LAYERS):
        hidden = _layer(graph, hidden, f"encoder.layer.{layer}")
    inputs = {"ids": (TensorProto.INT64, ["n", "length"]), "mask": (TensorProto.INT32, ["n", "length"])}
    return graph.serialised(inputs | {"places": (TensorProto.INT64, ["length"])}, hidden), graph.weights


def _embedded(graph: Graph, tensors: Tensors) -> str:
    """Each token's word and place; that all is of the first of two texts goes with the place."""
    places = (
        tensors["embeddings.position_embeddings.weight"]
        + tensors["embeddings.token_type_embeddings.weight"][0]
    )
    words = graph.add("Gather", "words", graph.weight("embeddings.word_embeddings.weight"), "ids")
    where = graph.add("Gather", "where", graph.given("embeddings.places", places), "places")
    norm = [graph.weight(f"embeddings.LayerNorm.{kind}") for kind in ("weight", "bias")]
    both = graph.add("Add", "read", words, where)
    return graph.add("LayerNormalization", "embedded", both, *norm, epsilon=EPSILON)


def _layer(graph: Graph, hidden: str, prefix: str) -> str:
    attended = graph.attended(f"{prefix}.attention.self", hidden)
    seen = graph.linear(f"{prefix}.attention.output.dense", attended)
    told = graph.levelled(f"{prefix}.attention.output", seen, hidden)
    wide = graph.linear(f"{prefix}.intermediate.dense", told)
    bent = graph.own("BiasGelu", f"{prefix}.bent", wide, graph.weight(f"{prefix}.intermediate.dense.bias"))
    narrow = graph.linear(f"{prefix}.output.dense", bent)
    return graph.levelled(f"{prefix}.output", narrow, told)
