"""The pages of a talk's branches: editing a message, choosing among alternatives, and the list of branches."""

from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.authentication import SignedInRequest
from accounts.errors import RefusedError
from companions.access import get_branch, get_companion, get_message_anywhere
from companions.branches import operations
from companions.conversations.editing import correct_message
from companions.models import Message
from companions.pages.shortcuts import (
    UNPROCESSABLE,
    form_view,
    list_page,
    page_view,
    post_view,
    redirect_whole,
)
from companions.replies import turn
from jobs.background import in_thread

PAGE_SIZE = 30


class WordsForm(forms.Form):
    text = forms.CharField(
        label=gettext_lazy("Your words"),
        widget=forms.Textarea(attrs={"rows": 4, "autofocus": True}),
        max_length=settings.MESSAGE_CHARACTERS,
        strip=False,
    )


@form_view
async def edit(request: SignedInRequest, companion_id: UUID, message_id: UUID) -> HttpResponse:
    """Show the form to edit a message of the person's; on POST, say it anew on a new branch.

    With `correct`, only correct the message in its place.
    """
    message = await in_thread(get_message_anywhere, request.user, companion_id, message_id)
    if message.role != Message.Role.USER:
        raise Http404
    form = WordsForm(request.POST or None, initial={"text": message.text})
    if form.is_bound and form.is_valid():
        text = form.cleaned_data["text"]
        try:
            if "correct" in request.POST:
                await in_thread(correct_message, message, text, timezone.now())
            else:
                begin = operations.say_anew(message)
                await turn.send(message.companion, text, None, timezone.now, begin=begin)
            return redirect_whole(request, "talk", companion_id)
        except RefusedError as error:
            form.add_error("text", str(error.detail))
    status = UNPROCESSABLE if form.is_bound else 200
    context = {"companion": message.companion, "message": message, "form": form}
    return await in_thread(lambda: render(request, "branches/edit.html", context, status=status))


@post_view
def choose_message(request: SignedInRequest, companion_id: UUID, message_id: UUID) -> HttpResponse:
    """Switch to an alternative of a message, and to where the talk went on from it."""
    message = get_message_anywhere(request.user, companion_id, message_id)
    try:
        left = operations.choose_alternative(message, timezone.now())
        later = left - 1  # without the message that it is an alternative to
        if later > 0:
            words = ngettext(
                "%(count)s message after the other version is kept there. Use the arrows to go back to it.",
                "%(count)s messages after the other version are kept there. Use the arrows to go back to them.",
                later,
            )
            messages.info(request, words % {"count": later})
    except RefusedError as error:
        messages.error(request, str(error.detail))
    return redirect(f"{reverse('talk', args=[companion_id])}#message-{message.pk}")


@post_view
def part(request: SignedInRequest, companion_id: UUID, message_id: UUID) -> HttpResponse:
    """Go on from a message on a new branch."""
    message = get_message_anywhere(request.user, companion_id, message_id)
    try:
        operations.fork(message.companion, message.pk, timezone.now())
        words = _("You are on a new branch. %(name)s knows only what was said up to here.")
        messages.success(request, words % {"name": message.companion.name})
    except RefusedError as error:
        messages.error(request, str(error.detail))
    return redirect_whole(request, "talk", companion_id)


@page_view
def branches(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion = get_companion(request.user, companion_id)
    mine = operations.load_branches(companion)
    listed, following = list_page([(mine, "made_at")], request.GET.get("cursor"), PAGE_SIZE)
    context = {"companion": companion, "branches": listed, "following": following}
    return render(request, "branches/branches.html", context)


@page_view
def compare(request: SignedInRequest, companion_id: UUID, branch_id: UUID) -> HttpResponse:
    """Show side by side what was said on a branch and on the chosen one since the two parted."""
    branch = get_branch(request.user, companion_id, branch_id)
    compared = operations.compare_branches(branch.companion.conversation, branch)
    return render(
        request,
        "branches/compare.html",
        {"companion": branch.companion, "branch": branch, "compared": compared},
    )


@post_view
def choose(request: SignedInRequest, companion_id: UUID, branch_id: UUID) -> HttpResponse:
    try:
        operations.choose(get_branch(request.user, companion_id, branch_id), timezone.now())
    except RefusedError as error:
        messages.error(request, str(error.detail))
        return redirect("branches", companion_id)
    return redirect("talk", companion_id)


@post_view
def rename(request: SignedInRequest, companion_id: UUID, branch_id: UUID) -> HttpResponse:
    operations.rename(get_branch(request.user, companion_id, branch_id), request.POST.get("name", ""))
    messages.success(request, _("Saved."))
    return redirect("branches", companion_id)


@form_view
def delete(request: SignedInRequest, companion_id: UUID, branch_id: UUID) -> HttpResponse:
    """Ask whether to delete the branch with the messages that are on it alone; on POST, delete it."""
    branch = get_branch(request.user, companion_id, branch_id)
    if request.method != "POST":
        count = len(operations.find_own_messages(branch))
        context = {"companion": branch.companion, "branch": branch, "count": count}
        return render(request, "branches/delete.html", context)
    try:
        operations.delete(branch, timezone.now())
        messages.success(request, _("The branch has been deleted."))
    except RefusedError as error:
        messages.error(request, str(error.detail))
    return redirect_whole(request, "branches", companion_id)
