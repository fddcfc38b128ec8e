"""The page of the talk with a companion: its turns, retries and deletions, and what the person has read."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time
from functools import partial
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse, HttpResponseBadRequest, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django_htmx.http import trigger_client_event

from accounts.authentication import SignedInRequest
from accounts.errors import RefusedError
from companions import deletion
from companions.access import get_companion, get_message, get_notice, get_reply, parse_uuid
from companions.conversations import transcript
from companions.conversations.markdown import as_html
from companions.conversations.messages import find_first_since
from companions.life import inner_state
from companions.life.outreach import find_first_unread, mark_read
from companions.minds.change import decide
from companions.models import Companion, Delivery, Message, Reply
from companions.pages.shortcuts import UNPROCESSABLE, form_view, page_view, post_view, redirect_back
from companions.replies import actions
from companions.replies.turn import spawn
from companions.sessions.ending import load_ending
from companions.tools.registry import describe_under_way
from jobs.background import in_thread
from safety import notices
from safety.models import Notice

MAX_BLOCK = 20_000  # characters; a longer one is shown as it was written until the answer is complete


@page_view
def talk(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show the newest turns, or those around a message, which is marked: `?at=`, or the first message of `?day=`.

    If more is unread than the newest turns, show those around the first unread message.
    """
    companion = get_companion(request.user, companion_id)
    found = _find_place(request, companion)
    unread = find_first_unread(companion.conversation, timezone.now())
    if found:
        page = transcript.load_around(companion.conversation, found)
    else:
        page = transcript.load_before(companion.conversation, None)
    if unread and not found and not page.find_turn(unread):
        page = transcript.load_around(companion.conversation, unread)
    context = {
        "companion": companion,
        "page": page,
        "found": found and found.pk,
        "first_unread": page.find_turn(unread),
        "words": _script_texts(companion.name),
        "ending": load_ending(companion),
        "feeling": inner_state.get_feeling_now(inner_state.get_newest(companion.pk), timezone.now()),
        "notices": [
            notices.as_frame(notice)
            for notice in notices.list_unseen(request.user, timezone.now())
            if notice.kind != Notice.Kind.AI  # the talk itself shows that at the beginning of a day
        ],
    }
    return render(request, "companions/talk.html", context)


def _find_place(request: SignedInRequest, companion: Companion) -> Message | None:
    """Return the message in `?at=`, or the first one on or after `?day=`; None if none is asked for, or no such day."""
    if at := request.GET.get("at"):
        return get_message(request.user, companion.pk, parse_uuid(at))
    if (day := request.GET.get("day")) is None:
        return None
    try:
        since = datetime.combine(date.fromisoformat(day), time(), companion.user.zone).astimezone(UTC)
    except (ValueError, OverflowError):
        messages.error(
            request, _("That is not a date. Choose one in the calendar, or write it as 2026-03-14.")
        )
        return None
    return find_first_since(companion, since)


def _script_texts(name: str) -> dict[str, str]:
    """Return the texts that the talk's scripts show, in the reader's language."""
    return {
        "reconnecting": _("The connection was lost. Reconnecting…"),
        "offline": _("You are offline. What you send will go out when the connection is back."),
        "signed_out": _("You have been signed out. Sign in again to continue; what you wrote is kept."),
        "gone": _("This companion no longer exists."),
        "too_fast": _("That was very fast. Continuing in a moment."),
        "not_sent": _("Not sent:"),
        "attached_under_way": _("Wait until the files are uploaded, then send."),
        "attached_failed": _("A file could not be uploaded. Try again, or remove it."),
        "cut": _(
            "A message can have at most 32,000 characters, so the end of what you pasted is missing. You can attach it"
            " as a text file instead."
        ),
        "attached_lost": _("It could not be sent to Kith. Try again in a moment."),
        "failed": _("That did not work. Try again in a moment."),
        **{f"tool_{tool}": words for tool, words in describe_under_way(name).items()},
        "tool": _("%(name)s is busy for a moment") % {"name": name},
        "thinking": _("%(name)s is thinking") % {"name": name},
        "waiting": _("waiting for the previous answer"),
        "late": _(
            "The model has not begun to answer. Kith waits up to %(seconds)d seconds; then another model"
            " answers, if you allow that, or you can try again."
        )
        % {"seconds": settings.CHAT_TIMEOUTS["first_piece_seconds"]},
        "silent": _(
            "Nothing more of the answer has come for a while. If the model stays silent, Kith stops waiting after"
            " %(seconds)d seconds. What is written is kept, also if you stop the answer."
        )
        % {"seconds": settings.CHAT_TIMEOUTS["silence_seconds"]},
        "says": _("%(name)s:") % {"name": name},
        "reads_aloud": _("Answers will now be read aloud."),
        "reads_silent": _("Answers will no longer be read aloud."),
        "not_aloud": _(
            "This could not be read aloud just now. The words are all there; try again in a moment."
        ),
    }


@page_view
def gauge(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show how full the context is, and the button that ends the session."""
    companion = get_companion(request.user, companion_id)
    return render(
        request, "companions/_gauge.html", {"companion": companion, "ending": load_ending(companion)}
    )


@post_view
def markdown(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Return the posted `text`, a block of an answer that is being made, as HTML, as the finished answer is shown."""
    get_companion(request.user, companion_id)
    text = request.POST.get("text", "")
    if len(text) > MAX_BLOCK:
        return HttpResponse(status=UNPROCESSABLE)
    return HttpResponse(as_html(text))


@page_view
def turn_list(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show the newest turns, or those before or after a message (`?before=`, `?after=`), as a part of the page."""
    companion = get_companion(request.user, companion_id)
    before, after = request.GET.get("before"), request.GET.get("after")
    edge = before or after
    start = get_message(request.user, companion_id, parse_uuid(edge)).pk if edge else None
    if start and not before:
        page = transcript.load_after(companion.conversation, start)
    else:
        page = transcript.load_before(companion.conversation, start)
    unread = None if edge else find_first_unread(companion.conversation, timezone.now())
    context = {"companion": companion, "page": page, "first_unread": page.find_turn(unread)}
    return render(request, "companions/_turns.html", context)


@page_view
def turn(request: SignedInRequest, companion_id: UUID, message_id: UUID) -> HttpResponse:
    """Show one turn as it is now, which the page loads when an answer is complete."""
    message = get_message(request.user, companion_id, message_id)
    context = {"companion": message.companion, "turn": transcript.turn_of(message)}
    return render(request, "companions/_turn.html", context)


@post_view
async def retry(request: SignedInRequest, companion_id: UUID, reply_id: UUID) -> HttpResponse:
    return await _answer_again(request, companion_id, reply_id, actions.retry)


@post_view
async def go_on(request: SignedInRequest, companion_id: UUID, reply_id: UUID) -> HttpResponse:
    return await _answer_again(request, companion_id, reply_id, actions.go_on)


@post_view
async def retry_otherwise(request: SignedInRequest, companion_id: UUID, reply_id: UUID) -> HttpResponse:
    """Have another model answer instead of the unavailable one: as a stand-in, or from now on, as decided."""
    decision, model = request.POST.get("decision", ""), request.POST.get("model", "")
    make = partial(retry_with, decision=decision, model=model)
    return await _answer_again(request, companion_id, reply_id, make)


@transaction.atomic
def retry_with(reply: Reply, now: datetime, decision: str, model: str) -> Reply:
    """Carry out the decision about the model, and queue a new reply.

    Raise ModelChoiceError, ReplyStateError or GateError.
    """
    decide(reply.companion, decision, model, now)
    return actions.retry(reply, now)


async def _answer_again(
    request: SignedInRequest, companion_id: UUID, reply_id: UUID, make: Callable[[Reply, datetime], Reply]
) -> HttpResponse:
    """Queue a new reply with `make`, and start it; return 201 with its id, or the reason for a refusal as JSON."""
    reply = await in_thread(get_reply, request.user, reply_id, companion=companion_id)
    try:
        made = await in_thread(make, reply, timezone.now())
    except RefusedError as error:
        return JsonResponse({"detail": str(error.detail)}, status=error.status)
    spawn(made.pk)
    return JsonResponse({"id": str(made.pk)}, status=201)


@form_view
def delete_message(request: SignedInRequest, companion_id: UUID, message_id: UUID) -> HttpResponse:
    """Ask whether to delete a message, with or without its answer; on POST, delete it."""
    message = get_message(request.user, companion_id, message_id)
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
    ids = [message.pk]
    if answer and message.role == Message.Role.USER and "with_answer" in request.POST:
        ids.append(answer.pk)
    deletion.delete_messages(companion_id, ids, timezone.now())
    if not request.htmx:
        return redirect("talk", companion_id)
    return trigger_client_event(HttpResponse(), "messages-deleted", {"ids": [str(id) for id in ids]})


@post_view
def read(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Mark what the companion said up to and including the posted `message` as read."""
    companion = get_companion(request.user, companion_id)
    if "message" not in request.POST:
        return HttpResponseBadRequest()
    newest = get_message(request.user, companion_id, parse_uuid(request.POST["message"]))
    mark_read(companion, min(newest.said_at, timezone.now()))
    return HttpResponse(status=204)


@post_view
def see_notice(request: SignedInRequest, notice_id: UUID) -> HttpResponse:
    """Mark a notice as seen; return an empty response for htmx, or else go back to the page in `next` or the inbox."""
    notices.mark_seen(get_notice(request.user, notice_id), timezone.now())
    if request.htmx:
        return HttpResponse()
    return redirect_back(request, "companions")
