"""URLs of a companion's voice pages, to be included at the root."""

from django.urls import URLPattern, URLResolver, include, path

from voice.pages import call, recordings, speech, voices

of_companion: list[URLPattern | URLResolver] = [
    path("replies/<uuid:reply_id>/speech/<int:number>/", speech.of_reply, name="reply_speech"),
    path("messages/<uuid:message_id>/speech/<int:number>/", speech.of_message, name="message_speech"),
    path("recordings/", recordings.add, name="recording_add"),
    path("recordings/<uuid:recording_id>/transcribe/", recordings.transcribe, name="recording_transcribe"),
    path("recordings/<uuid:recording_id>/send/", recordings.send, name="recording_send"),
    path("recordings/<uuid:recording_id>/correct/", recordings.correct, name="recording_correct"),
    path("recordings/<uuid:recording_id>/delete/", recordings.delete, name="recording_delete"),
    path("call/", call.call, name="call"),
    path("call/notice/", call.notice_aloud, name="call_notice"),
    path("voice/", voices.voice, name="voice"),
    path("voice/sample/", voices.sample, name="voice_sample"),
    path("voice/reads-aloud/", voices.reads_aloud, name="voice_reads_aloud"),
    path("voice/reference/", voices.reference, name="voice_reference"),
    path("voice/reference/delete/", voices.reference_delete, name="voice_reference_delete"),
]
urlpatterns = [path("companions/<uuid:companion_id>/", include(of_companion))]
