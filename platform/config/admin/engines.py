"""Model files on the operators' page "Which model?": their list, the choice of one, and the state of Kith's engines."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import psutil
from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_POST

from accounts.models import User
from config.up.engines import get_name
from config.up.supervisor import RECORDS_FILE, find_recorded, last_line
from providers.downloads.storage import open_folder
from providers.engine.gguf import ModelFile, ModelFileError, find_parts, read_model_file
from providers.engine.plan import EnginePlan, measure_room, plan_embedder, plan_engine, require_chat
from providers.engine.registry import Health, read_health, read_running
from providers.engine.rows import count_context
from providers.models import MAX_CONTEXT_TOKENS, MAX_SLOTS, MAX_THREADS, MIN_CONTEXT_TOKENS, Provider
from providers.selection import choose_chat, follow_change, is_set_by_environment
from safety.audit import get_operator, record
from safety.models import AuditEntry

RIGHTS = ("providers.add_provider", "providers.change_provider")  # choosing a model may add a provider
MAX_FILES = 50  # that the page lists


class FileForm(forms.Form):
    """A model file and how to run it; Kith chooses what is left empty."""

    path = forms.CharField(
        label=_("Path of another file"),
        max_length=1000,
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": "/…/model.gguf"}),
    )
    context_tokens = forms.IntegerField(
        label=_("Context tokens per request"),
        min_value=MIN_CONTEXT_TOKENS,
        max_value=MAX_CONTEXT_TOKENS,
        required=False,
    )
    slots = forms.IntegerField(label=_("Requests at once"), min_value=1, max_value=MAX_SLOTS, required=False)
    threads = forms.IntegerField(label=_("Threads"), min_value=1, max_value=MAX_THREADS, required=False)

    def get_plan_wishes(self) -> dict[str, int]:
        """Return the values that were entered for the plan, 0 for those that Kith chooses."""
        return {name: self.cleaned_data[name] or 0 for name in ("context_tokens", "slots", "threads")}


@dataclass
class FoundFile:
    """A file as the page shows it: its model and how it would be run, or what is wrong with it."""

    path: Path
    model: ModelFile | None = None
    plan: EnginePlan | None = None
    trouble: str = ""

    @property
    def needed_bytes(self) -> int:
        if self.model is None or self.plan is None:
            return 0
        return self.model.estimate_bytes(self.plan.context_tokens * self.plan.slots)


@dataclass
class ShownEngine:
    """A provider that one of Kith's own engines is to serve, and the engine's state.

    `words` is the last line of the engine's log if it ended; `percent` is about how much of the model it has loaded.
    """

    row: Provider
    state: str
    log: Path
    words: str = ""
    percent: int = 0


# -- files


def find_files(path: str) -> list[FoundFile]:
    """Return the file at `path`, if given, and then up to MAX_FILES model files in Kith's folder.

    A model that is split into several files is listed by the first.
    """
    named = [resolve(path)] if path.strip() and "\0" not in path else []
    lying = dict.fromkeys(find_parts(path)[0] for path in sorted(open_folder().rglob("*.gguf")))
    room = _measure_room_alone()
    return [_look_at(path, room) for path in dict.fromkeys([*named, *list(lying)[:MAX_FILES]])]


def resolve(path: str) -> Path:
    """Return the file that a typed path names; a relative path is relative to the folder of models."""
    try:
        return (open_folder() / Path(path.strip()).expanduser()).resolve()
    except (OSError, RuntimeError):  # the home of an unknown user, or a loop of symbolic links
        return open_folder() / path.strip()


def _look_at(path: Path, room_bytes: int) -> FoundFile:
    found = FoundFile(path)
    try:
        model = read_model(path)
        if model.is_embedder:
            found.model, found.plan = model, plan_embedder(model, measure_room())
        else:
            require_chat(model)
            found.model, found.plan = model, plan_engine(model, room_bytes)
    except ModelFileError as error:
        found.trouble = error.translate()
    return found


def read_model(path: Path) -> ModelFile:
    """Return what the file says of its model; raise ModelFileError if it holds none. Unchanged files are read once."""
    try:
        states = [part.stat() for part in find_parts(path)]
    except OSError:
        model: ModelFile | ModelFileError = read_model_file(path)  # which raises the reason
    else:
        model = _read_once(path, *((state.st_size, state.st_mtime_ns, state.st_ctime_ns) for state in states))
    if isinstance(model, ModelFileError):
        raise model.with_traceback(None)
    return model


@lru_cache(maxsize=2 * MAX_FILES)
def _read_once(path: Path, *states: tuple[int, int, int]) -> ModelFile | ModelFileError:
    """Return what the file says of its model, or the error of reading it.

    Cached by size and times of the file's parts: reading the words of a large vocabulary takes most of a second.
    """
    try:
        return read_model_file(path)
    except ModelFileError as error:
        return error


def _list_engine_rows() -> list[Provider]:
    return list(Provider.objects.filter(is_active=True).exclude(engine_file="").order_by("order", "pk"))


def _list_chat_rows() -> list[Provider]:
    return [row for row in _list_engine_rows() if not row.is_embedder]


def _measure_room_alone() -> int:
    """Return how many bytes there would be for a model if no engine ran a chat model.

    Running engines map their weights from files, which counts as free memory, so only their contexts are added.
    """
    running = read_running(settings.KITH_HOME)
    return measure_room() + sum(
        model.context_token_bytes * tokens
        for row, model, tokens in _read_engine_models()
        if row.pk in running
    )


def _read_engine_models() -> Iterator[tuple[Provider, ModelFile, int]]:
    """Yield each chat provider that an engine is to serve, its model, and the tokens of all its contexts."""
    for row in _list_chat_rows():
        with suppress(ModelFileError):  # the engine of such a file does not run
            yield row, read_model(Path(row.engine_file)), count_context(row) * (row.slots or 1)


# -- what is done


def require_right(request: HttpRequest) -> None:
    """Raise PermissionDenied unless the user may choose models."""
    if not request.user.has_perms(RIGHTS):
        raise PermissionDenied


def read_form(request: HttpRequest) -> FileForm | None:
    """Return the posted form if Kith can run the file that it names, otherwise None, and tell the operator why not."""
    require_right(request)
    form = FileForm(request.POST)
    if not settings.ENGINE_KEY:
        messages.error(
            request, _("Kith runs an engine only if it was started with “make up”. Start it that way first.")
        )
        return None
    for field, errors in form.errors.items():
        messages.error(request, f"{form.fields[field].label}: {errors[0]}")
    return form if form.is_valid() else None


def warn_unused(request: HttpRequest, model: str) -> None:
    """Tell the operator that the model is saved, but that the environment sets another one."""
    text = _("%(model)s is saved, but not in use: the environment sets another model.")
    messages.warning(request, text % {"model": model})


@contextmanager
def telling_faults(request: HttpRequest) -> Iterator[None]:
    """Tell the operator what is wrong with the model file, or with its values, if the block raises it."""
    try:
        yield
    except ModelFileError as error:
        messages.error(request, error.translate())
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))


@require_POST
def use_file(request: HttpRequest) -> HttpResponse:
    """Put a model file in force, and stop the other chat engines if there is not enough memory for all."""
    if form := read_form(request):
        with telling_faults(request):
            model = read_model(resolve(form.cleaned_data["path"]))
            require_chat(model)
            room = _measure_room_alone()
            plan = plan_engine(model, room, **form.get_plan_wishes())
            _tell(request, model, _put_in_force(get_operator(request), model, plan, room))
    return redirect("admin:mind")


@transaction.atomic
def _put_in_force(user: User, model: ModelFile, plan: EnginePlan, room_bytes: int) -> list[Provider]:
    """Make the model the chat model; stop the other chat engines if they do not all fit, and return their rows."""
    row = choose_chat(
        model.name[:80],
        "",
        model.path.stem[:200],
        context_tokens=plan.context_tokens,
        slots=plan.slots,
        engine_file=str(model.path),
        threads=plan.threads,
    )
    record(user, AuditEntry.Deed.CHANGED, Provider, row.pk)
    engines = list(_read_engine_models())
    if sum(model.estimate_bytes(tokens) for _row, model, tokens in engines) <= room_bytes:
        return []
    others = [other for other in _list_chat_rows() if other.pk != row.pk]
    for other in others:
        stop(user, other)
    return others


def _tell(request: HttpRequest, model: ModelFile, stopped: list[Provider]) -> None:
    if is_set_by_environment():
        warn_unused(request, model.path.stem)
    else:
        text = _("%(model)s will answer as soon as it is loaded.")
        messages.success(request, text % {"model": model.path.stem})
    for other in stopped:
        messages.warning(
            request,
            _("%(model)s was stopped: there is not enough memory for both.") % {"model": other.model},
        )


def stop(user: User, row: Provider) -> None:
    """Deactivate the provider, and record that in the audit."""
    row.is_active = False
    row.save(update_fields=["is_active"])
    record(user, AuditEntry.Deed.CHANGED, Provider, row.pk)
    follow_change()


# -- engines


@require_POST
def stop_engine(request: HttpRequest, id: int) -> HttpResponse:
    """Deactivate a model file's provider, which ends its engine."""
    require_right(request)
    with transaction.atomic():
        row = get_object_or_404(Provider.objects.exclude(engine_file=""), pk=id)
        stop(get_operator(request), row)
    messages.success(request, _("%(model)s was stopped.") % {"model": row.model})
    return redirect("admin:mind")


@require_GET
def show_engines(request: HttpRequest) -> HttpResponse:
    """Return the fragment with the state of the engines, which the page polls."""
    require_right(request)
    return TemplateResponse(request, "admin/mind_engines.html", describe_engines())


def describe_engines() -> dict[str, Any]:
    """Return the page's context about Kith's own engines."""
    engines = [_describe_engine(row) for row in _list_engine_rows()]
    return {
        "engines": engines,
        "engine_ids": [engine.row.pk for engine in engines],
        "are_changing": any(
            engine.state in {"starting", "installing", "loading", "failed"} for engine in engines
        ),
        "is_supervised": bool(settings.ENGINE_KEY),
    }


def _describe_engine(row: Provider) -> ShownEngine:
    log = settings.KITH_HOME / "logs" / f"{get_name(row.pk)}.log"
    if not settings.ENGINE_KEY:
        return ShownEngine(row, "unsupervised", log)
    if is_set_by_environment() and not row.is_embedder:
        return ShownEngine(row, "waiting", log)
    engine = read_running(settings.KITH_HOME).get(row.pk)
    health = read_health(engine.port) if engine else Health.NOTHING
    if health is not Health.NOTHING:
        return ShownEngine(row, health.value, log, percent=_measure_loaded(row))
    words = last_line(log)
    if engine and engine.ends:
        return ShownEngine(row, "failed", log, words)
    return ShownEngine(row, "installing" if words.startswith("Installing") else "starting", log)


def _measure_loaded(row: Provider) -> int:
    """Return about how much of its model the engine has loaded, in percent, by its process's resident memory."""
    process = find_recorded(settings.KITH_HOME / RECORDS_FILE, get_name(row.pk))
    if process is not None:
        with suppress(psutil.Error, OSError, ZeroDivisionError):
            size = sum(part.stat().st_size for part in find_parts(Path(row.engine_file)))
            return min(process.memory_info().rss * 100 // size, 99)
    return 0
