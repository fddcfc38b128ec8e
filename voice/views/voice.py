"""The page on which a companion's voice is chosen, tried, and taught by a recording."""

from uuid import UUID

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.errors import RefusedError
from accounts.signed_in import SignedInRequest
from companions.models import Companion
from companions.views.finding import my_companion
from database.threads import in_thread
from files.uploading import uploaded
from voice.choosing import CONSENT, choose, forget_reference, imitate
from voice.models import Voice
from voice.offering import offer
from voice.speaking.tone import voice_of
from voice.speaking.whole import read_aloud
from voice.views.answering import in_words
from voice.views.speech import sound
from voice.voice_forms import ReferenceForm, VoiceForm

UNPROCESSABLE = 422


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def voice(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion = my_companion(request, companion_id)
    if request.method != "POST":
        return _page(request, companion)
    offered = async_to_sync(offer)()
    form = VoiceForm(request.POST, instance=voice_of(companion), voices=offered.voices)
    if not form.is_valid():
        return _page(request, companion, form=form)
    choose(companion, **form.cleaned_data)
    messages.success(request, _("Saved."))
    return redirect("voice", companion_id)


@require_POST
@login_required
def reference(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Take in a recording that the voice is to imitate."""
    companion = my_companion(request, companion_id)
    form = ReferenceForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, companion, reference_form=form)
    try:
        content = uploaded(request, settings.AUDIO_BYTES)
        imitate(companion, content, form.cleaned_data["text"], str(CONSENT), timezone.now())
    except RefusedError as error:
        form.add_error("file", str(error.detail))
        return _page(request, companion, reference_form=form)
    messages.success(request, _("The recording is kept. From now on it is imitated."))
    return redirect("voice", companion_id)


@require_POST
@login_required
def reference_delete(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    forget_reference(my_companion(request, companion_id))
    messages.success(request, _("The recording is deleted."))
    return redirect("voice", companion_id)


@require_POST
@login_required
def reads_aloud(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Have answers read aloud, or not: what stands in `reads_aloud`."""
    choose(my_companion(request, companion_id), reads_aloud=request.POST.get("reads_aloud") == "yes")
    return HttpResponse(status=204)


@require_POST
@login_required
@in_words
async def sample(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """A sentence in the voice that the form would choose."""
    companion = await in_thread(my_companion, request, companion_id)
    tried = await in_thread(_tried, request, companion)
    words = _("Hello, I am %(name)s. This is how I sound when I read something to you.")
    return sound(*await read_aloud(companion, words % {"name": companion.name}, tried))


def _tried(request: SignedInRequest, companion: Companion) -> Voice:
    """The voice with what the form says in so far as it is valid; it is not saved."""
    tried = voice_of(companion)
    form = VoiceForm(request.POST, instance=voice_of(companion), voices=[request.POST.get("name", "")[:200]])
    form.is_valid()
    for name, value in form.cleaned_data.items():
        setattr(tried, name, value)
    return tried


def _page(
    request: SignedInRequest,
    companion: Companion,
    form: VoiceForm | None = None,
    reference_form: ReferenceForm | None = None,
) -> HttpResponse:
    offered, chosen = async_to_sync(offer)(), voice_of(companion)
    form = form or VoiceForm(instance=chosen, voices=offered.voices)
    reference_form = reference_form or ReferenceForm()
    context = {
        "companion": companion,
        "offer": offered,
        "voice": voice_of(companion),
        "form": form,
        "reference_form": reference_form,
    }
    status = UNPROCESSABLE if form.is_bound or reference_form.is_bound else 200
    return render(request, "voice/voice.html", context, status=status)
