"""The admin site: django-unfold's, with Kith's own pages and a content security policy that allows for its theme."""

from functools import partial
from typing import Any, cast

from csp.constants import SELF, UNSAFE_EVAL, UNSAFE_INLINE
from csp.decorators import csp_replace
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, URLResolver, path
from django.utils.functional import SimpleLazyObject
from unfold.sites import UnfoldAdminSite

# Alpine evaluates expressions in attributes, the theme sets inline styles, the sound page embeds audio as data URLs.
POLICY = {
    "script-src": [SELF, UNSAFE_EVAL],
    "style-src": [SELF, UNSAFE_INLINE],
    "media-src": [SELF, "data:"],
}


class KithAdminSite(UnfoldAdminSite):  # type: ignore[misc]
    empty_value_display = "–"  # as Kith's own columns show it

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Return the list, built lazily: every page has it in its context, but few show it."""
        return cast(list[Any], SimpleLazyObject(partial(super().get_app_list, request, app_label)))

    def name_table(self, model: type[Model]) -> str:
        """Return what the sidebar calls the model's table, or the model's own name for many if it is not there."""
        from config.admin.sidebar import list_rooms  # the models must be loaded

        names = (tables[model._meta.label] for tables in list_rooms().values() if model._meta.label in tables)
        title, _icon = next(names, (str(model._meta.verbose_name_plural), ""))
        return title

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        return csp_replace(POLICY)(super().admin_view(view, cacheable))

    def password_change(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Redirect to the site's own page, which limits guesses and records the change; Django's does neither."""
        return redirect("account_change_password")

    def get_urls(self) -> list[URLPattern | URLResolver]:
        # Imported here, since this module is loaded before the models are.
        from config.admin.chat_models import show_models, try_engine
        from config.admin.downloads import show_downloads
        from config.admin.embedder import use_built_in, use_for_memory
        from config.admin.engines import show_engines, stop_engine, use_file
        from config.admin.speech import show_sound

        urls: list[URLPattern | URLResolver] = super().get_urls()
        own = [
            path("mind/", self.admin_view(show_models), name="mind"),
            path("mind/file/", self.admin_view(use_file), name="mind_file"),
            path("mind/memory/", self.admin_view(use_for_memory), name="mind_memory"),
            path("mind/memory/built-in/", self.admin_view(use_built_in), name="mind_built_in"),
            path("mind/engines/", self.admin_view(show_engines), name="mind_engines"),
            path("mind/engines/<int:id>/try/", self.admin_view(try_engine), name="mind_try"),
            path("mind/engines/<int:id>/stop/", self.admin_view(stop_engine), name="mind_stop"),
            path("mind/downloads/", self.admin_view(show_downloads), name="mind_downloads"),
            path("sound/", self.admin_view(show_sound), name="sound"),
        ]
        return [*own, *urls]
