from uuid import UUID

from django.contrib import messages
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.authentication import SignedInRequest
from accounts.rates import admit_to
from companions import creation
from companions.access import get_companion
from companions.characters import starting
from companions.deletion import delete_companion, delete_rehearsed
from companions.errors import LimitError
from companions.face.portraits import choose_features
from companions.life.outreach import count_unread
from companions.models import Companion
from companions.pages.decorators import UNPROCESSABLE, form_view, page_view, post_view
from companions.pages.forms.companions import CompanionForm, CompanionSettingsForm, TypedNameForm


@require_safe
def welcome(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return redirect("companions")
    return render(request, "welcome.html")


@page_view
def companions(request: SignedInRequest) -> HttpResponse:
    """The inbox: each companion with the last words of their talk and how many are unread, newest first."""
    last = Coalesce("conversation__head__said_at", "created_at")
    mine = (
        Companion.objects.owned_by(request.user)
        .select_related("conversation__head")
        .order_by(last.desc(), "pk")
    )
    counts = count_unread(request.user)
    context = {
        "people": [(companion, counts.get(companion.pk, 0)) for companion in mine],
        "unread_total": sum(counts.values()),
        "today": timezone.localdate(),
    }
    return render(request, "companions/companions.html", context)


@form_view
def new(request: SignedInRequest) -> HttpResponse:
    """The form for a new companion, filled in from a starting character where one was picked (`?from=`)."""
    characters, picked = starting(get_language() or "en"), None
    if request.method == "POST":
        form = CompanionForm(request.POST)
        if form.is_valid():
            admit_to(request.user, "companions", timezone.now())
            try:
                made = creation.create(request.user, now=timezone.now(), **form.cleaned_data)
            except LimitError as error:
                form.add_error(None, str(error.detail))
            else:
                _begin_face(made, request.POST.get("from", ""))
                return redirect("talk", made.pk)
    else:
        picked = next(
            (character for character in characters if character.slug == request.GET.get("from")), None
        )
        fields = ("name", "persona", "greeting", "tint")
        form = CompanionForm(initial={name: getattr(picked, name) for name in fields} if picked else {})
    context = {"form": form, "characters": characters, "picked": picked}
    return render(request, "companions/new.html", context, status=UNPROCESSABLE if form.is_bound else 200)


def _begin_face(made: Companion, slug: str) -> None:
    """Give what is made from a starting character that one's face."""
    character = next((character for character in starting("en") if character.slug == slug), None)
    if character:
        choose_features(made, character.face, {})


@form_view
def edit(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion = get_companion(request.user, companion_id)
    form = CompanionSettingsForm(request.POST or None, instance=companion)
    if form.is_bound and form.is_valid():
        form.save()
        messages.success(request, _("Saved."))
        return redirect("companion", companion.pk)
    return _companion_page(request, get_companion(request.user, companion_id), form=form)


@post_view
def delete(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion = get_companion(request.user, companion_id)
    form = TypedNameForm(companion, request.POST)
    if not form.is_valid():
        return _companion_page(request, companion, deletion_form=form)
    delete_companion(companion)
    messages.success(
        request, _("%(name)s is deleted, with all that was said and remembered.") % {"name": companion.name}
    )
    return redirect("companions")


@post_view
def delete_rehearsals(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion = get_companion(request.user, companion_id)
    count = delete_rehearsed(companion, timezone.now())
    said = ngettext(
        "%(count)s rehearsed answer is deleted.", "%(count)s rehearsed answers are deleted.", count
    )
    messages.success(request, said % {"count": count})
    return redirect("companion", companion.pk)


def _companion_page(
    request: SignedInRequest,
    companion: Companion,
    form: CompanionSettingsForm | None = None,
    deletion_form: TypedNameForm | None = None,
) -> HttpResponse:
    """The companion's own page; a form with errors comes back in its place."""
    form = form or CompanionSettingsForm(instance=companion)
    deletion_form = deletion_form or TypedNameForm(companion)
    context = {
        "companion": companion,
        "form": form,
        "deletion_form": deletion_form,
        "rehearsed": companion.messages.filter(is_rehearsed=True).count(),
    }
    status = UNPROCESSABLE if form.is_bound or deletion_form.is_bound else 200
    return render(request, "companions/companion.html", context, status=status)
