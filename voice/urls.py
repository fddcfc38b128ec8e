"""Pages of a companion's voice, to be included at the root."""

from django.urls import URLPattern, URLResolver, include, path

from voice.views import call as calls
from voice.views import hearing as hear
from voice.views import speech, transcripts
from voice.views import voice as voices

Addresses = list[URLPattern | URLResolver]

speaking: Addresses = [
    path("replies/<uuid:reply_id>/speech/<int:number>/", speech.of_reply, name="reply_speech"),
    path("messages/<uuid:message_id>/speech/<int:number>/", speech.of_message, name="message_speech"),
]
hearing: Addresses = [
    path("recordings/", hear.add, name="recording_add"),
    path("recordings/<uuid:recording_id>/transcribe/", hear.transcribe, name="recording_transcribe"),
    path("recordings/<uuid:recording_id>/send/", hear.send, name="recording_send"),
    path("recordings/<uuid:recording_id>/correct/", transcripts.correct, name="recording_correct"),
    path("recordings/<uuid:recording_id>/delete/", transcripts.drop, name="recording_delete"),
]
call: Addresses = [
    path("call/", calls.call, name="call"),
    path("call/notice/", calls.notice_aloud, name="call_notice"),
]
voice: Addresses = [
    path("voice/", voices.voice, name="voice"),
    path("voice/sample/", voices.sample, name="voice_sample"),
    path("voice/reads-aloud/", voices.reads_aloud, name="voice_reads_aloud"),
    path("voice/reference/", voices.reference, name="voice_reference"),
    path("voice/reference/delete/", voices.reference_delete, name="voice_reference_delete"),
]
of_companion: Addresses = [*speaking, *hearing, *call, *voice]
urlpatterns = [
    path("companions/<uuid:companion_id>/", include(of_companion)),
]
