"""Every address of Kith."""

from django.contrib import admin
from django.urls import include, path

from config.api import api
from config.health import healthz

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("api/v1/", api.urls),
    path("admin/", admin.site.urls),
    path("", include("accounts.urls")),
    path("", include("files.urls")),
    path("", include("companions.urls")),
    path("", include("voice.urls")),
    path("", include("integrations.push.urls")),
]
