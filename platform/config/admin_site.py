"""The admin's site: django-unfold's, with a content policy that its theme can live with."""

from typing import Any

from csp.constants import SELF, UNSAFE_EVAL, UNSAFE_INLINE
from csp.decorators import csp_replace
from unfold.sites import UnfoldAdminSite

# Alpine evaluates the expressions in its attributes, and the theme sets styles inline.
POLICY = {"script-src": [SELF, UNSAFE_EVAL], "style-src": [SELF, UNSAFE_INLINE]}


class KithAdminSite(UnfoldAdminSite):  # type: ignore[misc]
    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        return csp_replace(POLICY)(super().admin_view(view, cacheable))
