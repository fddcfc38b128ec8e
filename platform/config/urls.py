"""Kith's root URLconf."""

from django.contrib import admin
from django.urls import include, path

from config.api import api, show_openapi
from config.health import healthz, livez, readyz
from files.views import give

admin.autodiscover()
handler500 = "config.http.errors.server_error"

urlpatterns = [
    path("livez", livez, name="livez"),
    path("readyz", readyz, name="readyz"),
    path("healthz", healthz, name="healthz"),
    # Instead of Ninja's own view, which generates the document for each request.
    path("api/v1/openapi.json", show_openapi),
    path("api/v1/", api.urls),
    path("admin/", admin.site.urls),
    path("", include("accounts.pages.urls")),
    path("files/<uuid:file_id>/", give, name="file"),
    path("", include("companions.pages.urls")),
    path("", include("voice.urls")),
    path("", include("integrations.push.urls")),
]
