"""Scripts import each other by names that hold a hash, a page names all of them at once, and they come without Django."""

import gzip
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.template import Context, Template

from config.http.asgi_layers import PIECE_BYTES, StaticFiles
from config.http.static_files import IMPORT, HashedFiles, list_imports

HASHED = re.compile(r"\.[0-9a-f]{12}\.js$")
SCRIPT = b"let a;\n" * 100
FILES = {
    "js/a.js": 'import { b } from "./deep/b.js";\nimport "./c.js";\n',
    "js/deep/b.js": 'export { c as b } from "../c.js";\n',
    "js/c.js": "export const c = 1;\n",
    "vendor/brought.js": 'export * from "./nowhere.js";\n',
}


def test_imports_of_our_scripts_are_hashed_and_those_of_packages_left(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    storage = HashedFiles(location=tmp_path, base_url="/static/")
    list(storage.post_process({name: (storage, name) for name in FILES}))
    named = {name: Path(path).name for name, path in storage.hashed_files.items()}
    whole = (tmp_path / "js" / named["js/a.js"]).read_text()
    assert f'from "./deep/{named["js/deep/b.js"]}"' in whole
    assert f'"./{named["js/c.js"]}"' in whole
    assert f'"../{named["js/c.js"]}"' in (tmp_path / "js/deep" / named["js/deep/b.js"]).read_text()
    assert (tmp_path / "vendor" / named["vendor/brought.js"]).read_text() == FILES["vendor/brought.js"]


def test_no_import_of_our_scripts_is_left_without_its_hash(tmp_path: Path, settings: Any) -> None:
    (source,) = settings.STATICFILES_DIRS
    names = [str(path.relative_to(source)) for path in Path(source).rglob("*") if path.is_file()]
    shutil.copytree(source, tmp_path, dirs_exist_ok=True)
    storage = HashedFiles(location=tmp_path, base_url="/static/")
    made = storage.post_process({name: (storage, name) for name in names})
    assert not [error for *_names, error in made if isinstance(error, Exception)]
    scripts = [name for name in storage.hashed_files.values() if name.startswith("js/")]
    for name in scripts:
        imported = [found["url"] for found in IMPORT.finditer((tmp_path / name).read_text())]
        left = [path for path in imported if not HASHED.search(path)]
        assert not left, name
    assert len(scripts) > 30


def test_a_page_names_every_module_that_its_script_needs() -> None:
    needed = list_imports("js/talk/talk.js")
    assert {"js/announce.js", "js/voice/playback.js", "js/talk/turns.js"} <= set(needed)
    assert len(needed) == len(set(needed))
    assert all(set(list_imports(name)) <= {*needed, name} for name in needed)
    assert all(finders.find(name) for name in needed)
    shown = Template('{% load modules %}{% module "js/talk/talk.js" %}').render(Context())
    assert shown.count('<link rel="modulepreload" href="/static/js/') == len(needed)
    assert shown.endswith('<script src="/static/js/talk/talk.js" type="module" fetchpriority="low"></script>')
    with pytest.raises(FileNotFoundError):
        list_imports("js/none.js")


def test_a_style_sheet_holds_those_that_it_imports(tmp_path: Path) -> None:
    (tmp_path / "css").mkdir()
    sheets = {
        "css/all.css": '/* All. */\n@import "a.css";\n@import "b.css";\n',
        "css/a.css": "a {}\n",
        "css/b.css": "b {}\n",
    }
    for name, text in sheets.items():
        (tmp_path / name).write_text(text)
    storage = HashedFiles(location=tmp_path, base_url="/static/")
    list(storage.post_process({name: (storage, name) for name in sheets}))
    assert (tmp_path / storage.hashed_files["css/all.css"]).read_text() == "/* All. */\na {}\n\nb {}\n\n"


@pytest.fixture
def collected(tmp_path: Path, settings: Any) -> StaticFiles:
    """What sends a small script, a large picture, and nothing else."""
    settings.STATIC_ROOT = tmp_path / "static"
    settings.STATIC_ROOT.mkdir()
    (settings.STATIC_ROOT / "a.js").write_bytes(SCRIPT)
    (settings.STATIC_ROOT / "a.js.gz").write_bytes(gzip.compress(SCRIPT))
    (settings.STATIC_ROOT / "large.png").write_bytes(bytes(PIECE_BYTES + 1))
    (tmp_path / "secret").write_text("a key")

    async def pages(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 299, "headers": []})

    return StaticFiles(pages)


async def asked(files: StaticFiles, path: str, method: str = "GET", **headers: str) -> tuple[int, Any, bytes]:
    """Return status, headers and body of the answer."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    told = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    await files({"type": "http", "method": method, "path": path, "headers": told}, None, send)
    start, *pieces = sent
    assert not pieces or [piece.get("more_body", False) for piece in pieces] == [True] * len(pieces[1:]) + [
        False
    ]
    body = b"".join(piece.get("body", b"") for piece in pieces)
    return start["status"], {name.decode(): value.decode() for name, value in start["headers"]}, body


async def test_static_files_come_whole_squeezed_and_once(collected: StaticFiles) -> None:
    status, headers, body = await asked(collected, "/static/a.js")
    assert (status, body) == (200, SCRIPT)
    assert headers["content-type"].startswith("text/javascript")
    assert headers["x-content-type-options"] == "nosniff"
    squeezed = await asked(collected, "/static/a.js", accept_encoding="gzip, br")
    assert squeezed[1]["content-encoding"] == "gzip"
    assert gzip.decompress(squeezed[2]) == SCRIPT
    again = await asked(collected, "/static/a.js", if_none_match=headers["etag"])
    assert (again[0], again[2]) == (304, b"")
    assert await asked(collected, "/static/a.js", "HEAD") == (200, headers, b"")
    assert (await asked(collected, "/static/a.js", "POST"))[0] == 405
    assert (await asked(collected, "/static/large.png"))[2] == bytes(PIECE_BYTES + 1)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/static/",
        "/static/none.js",
        "/static/../secret",
        "/static/a.js/",
        "//static/a.js",
        "/static/a.js.gz",
    ],
)
async def test_nothing_else_is_sent_as_a_static_file(collected: StaticFiles, path: str) -> None:
    assert (await asked(collected, path))[0] == 299
