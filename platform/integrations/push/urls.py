"""URLs of notifications and of the installable web app; included at the root."""

from django.urls import path

from integrations.push import app, views

urlpatterns = [
    path("service-worker.js", app.service_worker, name="service_worker"),
    path("manifest.webmanifest", app.manifest, name="manifest"),
    path("offline/", app.offline, name="offline"),
    path("favicon.ico", app.favicon, name="favicon"),
    path("notifications/key/", views.key, name="push_key"),
    path("notifications/subscribe/", views.subscribe_here, name="push_subscribe"),
    path("notifications/unsubscribe/", views.unsubscribe_here, name="push_unsubscribe"),
    path("notifications/<uuid:subscription_id>/remove/", views.remove, name="push_remove"),
]
