"""Scripts import each other by names that hold a hash, and a page names all of them at once."""

from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.template import Context, Template

from config.static_files import HashedFiles, list_imports

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


def test_a_page_names_every_module_that_its_script_needs() -> None:
    needed = list_imports("js/talk/talk.js")
    assert {"js/announce.js", "js/voice/playback.js", "js/talk/turns.js"} <= set(needed)
    assert len(needed) == len(set(needed))
    assert all(set(list_imports(name)) <= {*needed, name} for name in needed)
    assert all(finders.find(name) for name in needed)
    shown = Template('{% load modules %}{% module "js/talk/talk.js" %}').render(Context())
    assert shown.count('<link rel="modulepreload" href="/static/js/') == len(needed)
    assert shown.endswith('<script src="/static/js/talk/talk.js" type="module"></script>')
    with pytest.raises(FileNotFoundError):
        list_imports("js/none.js")
