"""The admin's site: django-unfold's, with a content policy that its theme can live with."""

from typing import Any

from csp.constants import SELF, UNSAFE_EVAL, UNSAFE_INLINE
from csp.decorators import csp_replace
from django.urls import URLPattern, URLResolver, path
from unfold.sites import UnfoldAdminSite

# Alpine evaluates the expressions in its attributes, and the theme sets styles inline; a tried sound stands in its page.
POLICY = {
    "script-src": [SELF, UNSAFE_EVAL],
    "style-src": [SELF, UNSAFE_INLINE],
    "media-src": [SELF, "data:"],
}


class KithAdminSite(UnfoldAdminSite):  # type: ignore[misc]
    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        return csp_replace(POLICY)(super().admin_view(view, cacheable))

    def get_urls(self) -> list[URLPattern | URLResolver]:
        from config.speech_admin import sound_desk  # this module is loaded before there are models

        urls: list[URLPattern | URLResolver] = super().get_urls()
        return [path("sound/", self.admin_view(sound_desk), name="sound"), *urls]
