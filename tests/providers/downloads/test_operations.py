"""Starting a download: which addresses are taken, and what a file is called; and the catalogue."""

from datetime import UTC, datetime

import pytest

from providers.downloads.catalogue import load_catalogue, sort_by_fit
from providers.downloads.models import Download
from providers.downloads.operations import DownloadError, start_download
from providers.downloads.storage import choose_file_name
from providers.http.guarded_http import parse_address

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("last", "name"),
    [
        ("a-model.Q4_K_M.gguf", "a-model.Q4_K_M.gguf"),
        ("A.GGUF", "A.gguf"),
        ("download", "download.gguf"),
        ("", "model.gguf"),
        ("..", "model.gguf"),
        ("..%2F..%2Fetc%2Fpasswd", "etc-passwd.gguf"),
        (".gguf", "model.gguf"),
        ("%00a%0Ab.gguf", "a-b.gguf"),
        ("-rf%20~.gguf", "rf.gguf"),
        ("模型.gguf", "model.gguf"),
        ("x" * 5000 + ".gguf", "x" * 150 + ".gguf"),
    ],
)
def test_a_name_from_an_address_is_a_plain_one(last: str, name: str) -> None:
    assert choose_file_name(f"https://files.example.org/models/{last}") == name


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("http://files.example.org/a.gguf", "https://"),
        ("https://me:key@files.example.org/a.gguf", "cannot be used"),
        ("https://files.example.org:22/a.gguf", "cannot be used"),
        ("https://files.example.org/a.gguf?token=secret", "may be a key"),
        ("https://files.example.org/a-00001-of-00003.gguf", "several files"),
        ("file:///etc/passwd", "https://"),
        ("nonsense", "https://"),
        (f"https://files.example.org/{'a' * 1000}.gguf", "too long"),
    ],
)
def test_an_address_that_will_not_do_is_refused_with_a_sentence(url: str, sentence: str) -> None:
    with pytest.raises(DownloadError, match=sentence):
        start_download(url, NOON)
    assert not Download.objects.exists()


@pytest.mark.django_db
def test_a_file_is_fetched_once() -> None:
    start_download("https://files.example.org/a.gguf?download=true#top", NOON)
    for url in ("https://files.example.org/a.gguf", "https://other.example.org/a.gguf"):
        with pytest.raises(DownloadError, match="already in the list"):
            start_download(url, NOON)
    assert Download.objects.get().url == "https://files.example.org/a.gguf"


def test_the_catalogue_is_whole_and_shows_first_what_fits() -> None:
    models = load_catalogue()
    assert {model.purpose for model in models} == {"chat", "embedding"}
    assert len({choose_file_name(model.url) for model in models}) == len(models)
    for model in models:
        assert parse_address(model.url).url == model.url
        assert model.sha256 == "" or len(model.sha256) == 64
        assert model.size_bytes < model.memory_bytes
    fits = [model.fits(8_000_000_000) for model in sort_by_fit(8_000_000_000)]
    assert fits == sorted(fits, reverse=True)
    assert {True, False} == set(fits)
