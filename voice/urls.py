"""Pages of a companion's voice, to be included at the root."""

from django.urls import URLPattern, URLResolver, include, path

Addresses = list[URLPattern | URLResolver]

speaking: Addresses = []
hearing: Addresses = []
call: Addresses = []
voice: Addresses = []
of_companion: Addresses = [*speaking, *hearing, *call, *voice]
urlpatterns = [
    path("companions/<uuid:companion_id>/", include(of_companion)),
]
