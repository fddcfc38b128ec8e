import json
from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.errors import RefusedError
from accounts.signed_in import SignedInRequest
from companions import deletion, turns
from companions.diary import ending
from companions.life import inner_state
from companions.models import Companion, Delivery, Message, Reply
from companions.replies import actions
from companions.replies.turn import spawn
from companions.views.finding import my_companion, my_message, my_reply, uuid_of
from companions.words import talk_words
from database.threads import in_thread
from safety import together


def _context(companion: Companion, before: UUID | None) -> dict[str, object]:
    shown, following = turns.page(companion.conversation, before)
    return {"companion": companion, "turns": shown, "following": following, "today": timezone.localdate()}


@require_safe
@login_required
@never_cache
def talk(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion = my_companion(request, companion_id)
    more = {
        "words": talk_words(companion.name),
        "ending": ending(companion),
        "feeling": inner_state.feeling_now(inner_state.newest(companion.pk), timezone.now()),
        "notices": [together.frame(one) for one in together.unseen(request.user, timezone.now())],
    }
    return render(request, "companions/talk.html", _context(companion, None) | more)


@require_safe
@login_required
@never_cache
def gauge(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """How full the context is, and the way to end the session."""
    companion = my_companion(request, companion_id)
    return render(request, "companions/_gauge.html", {"companion": companion, "ending": ending(companion)})


@require_safe
@login_required
@never_cache
def turn_list(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """The newest turns, or those before a message (`?before=`), as they stand in the talk."""
    companion = my_companion(request, companion_id)
    before = request.GET.get("before")
    start = my_message(request, companion_id, uuid_of(before)).pk if before else None
    return render(request, "companions/_turns.html", _context(companion, start))


@require_safe
@login_required
@never_cache
def turn(request: SignedInRequest, companion_id: UUID, message_id: UUID) -> HttpResponse:
    """One turn as it stands now: what the page shows when an answer is complete."""
    message = my_message(request, companion_id, message_id)
    context = {"companion": message.companion, "turn": turns.turn_of(message), "today": timezone.localdate()}
    return render(request, "companions/_turn.html", context)


@require_POST
@login_required
async def retry(request: SignedInRequest, companion_id: UUID, reply_id: UUID) -> HttpResponse:
    return await _made_anew(request, companion_id, reply_id, actions.retry)


@require_POST
@login_required
async def go_on(request: SignedInRequest, companion_id: UUID, reply_id: UUID) -> HttpResponse:
    return await _made_anew(request, companion_id, reply_id, actions.go_on)


async def _made_anew(
    request: SignedInRequest, companion_id: UUID, reply_id: UUID, make: Callable[[Reply, datetime], Reply]
) -> HttpResponse:
    """201 where a new reply is on its way; otherwise why not, in a sentence for the page."""
    reply = await in_thread(my_reply, request, companion_id, reply_id)
    try:
        made = await in_thread(make, reply, timezone.now())
    except RefusedError as error:
        return JsonResponse({"detail": str(error.detail)}, status=error.status)
    spawn(made.pk)
    return JsonResponse({"id": str(made.pk)}, status=201)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def delete_message(request: SignedInRequest, companion_id: UUID, message_id: UUID) -> HttpResponse:
    """Ask whether to delete a message, with its answer or without; then do it."""
    message = my_message(request, companion_id, message_id)
    answers = message.children.filter(role=Message.Role.ASSISTANT, waking=None)
    answer = answers.order_by("-created_at").first()
    if request.method != "POST":
        reminders = deletion.reminders_of(message, timezone.now())
        context = {
            "companion": message.companion,
            "message": message,
            "answer": answer,
            "reminders": reminders,
            "is_sent": Delivery.objects.gone_out([message, *reminders]).exists(),
        }
        return render(request, "companions/delete_message.html", context)
    left = _delete(
        message, answer if message.role == Message.Role.USER else None, "with_answer" in request.POST
    )
    if not request.headers.get("HX-Request"):
        return redirect("talk", companion_id)
    gone = {"talk-changed": {"message": str(message_id), "becomes": str(left) if left else None}}
    return HttpResponse(headers={"HX-Trigger": json.dumps(gone)})


def _delete(message: Message, answer: Message | None, with_answer: bool) -> UUID | None:
    """Delete the message; the id of what stays of its turn."""
    parent = message.parent if message.role == Message.Role.ASSISTANT else None
    deletion.delete_message(message, timezone.now())
    if answer and with_answer:
        deletion.delete_message(
            Message.objects.select_related("companion__user").get(pk=answer.pk), timezone.now()
        )
        return None
    if answer:
        return answer.pk
    return parent.pk if parent and parent.role == Message.Role.USER else None
