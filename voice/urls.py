"""Pages of a companion's voice, to be included at the root."""

from django.urls import URLPattern, URLResolver, include, path

from voice.views import hearing as hear
from voice.views import transcripts

Addresses = list[URLPattern | URLResolver]

speaking: Addresses = []
hearing: Addresses = [
    path("recordings/", hear.add, name="recording_add"),
    path("recordings/<uuid:recording_id>/transcribe/", hear.transcribe, name="recording_transcribe"),
    path("recordings/<uuid:recording_id>/send/", hear.send, name="recording_send"),
    path("recordings/<uuid:recording_id>/correct/", transcripts.correct, name="recording_correct"),
    path("recordings/<uuid:recording_id>/delete/", transcripts.drop, name="recording_delete"),
]
call: Addresses = []
voice: Addresses = []
of_companion: Addresses = [*speaking, *hearing, *call, *voice]
urlpatterns = [
    path("companions/<uuid:companion_id>/", include(of_companion)),
]
