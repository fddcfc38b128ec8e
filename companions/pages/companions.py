"""The inbox, a companion's settings page, and its deletion."""

from typing import Any, ClassVar
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_safe

from accounts.authentication import SignedInRequest
from companions.access import get_companion
from companions.deletion import delete_companion, delete_rehearsed
from companions.life.outreach import count_unread
from companions.models import Companion, GalleryCharacter
from companions.pages.shortcuts import UNPROCESSABLE, form_view, page_view, post_view


class TalkSettingsForm(forms.ModelForm):  # type: ignore[type-arg]
    """How long a silence ends a talk."""

    class Meta:
        model = Companion
        fields = ("idle_hours",)
        labels: ClassVar[dict[str, Any]] = {"idle_hours": gettext_lazy("Hours of silence that end a talk")}
        help_texts: ClassVar[dict[str, Any]] = {
            "idle_hours": gettext_lazy(
                "From 1 to 720. After such a silence, it writes what you talked about in its diary."
            )
        }


class TypedNameForm(forms.Form):
    """The companion's name, to be typed as a confirmation, so that nothing is deleted by mistake."""

    typed_name = forms.CharField(
        label=gettext_lazy("Its name"),
        max_length=80,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        error_messages={"required": gettext_lazy("To confirm, type its name.")},
    )

    def __init__(self, companion: Companion, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.companion = companion

    def clean_typed_name(self) -> str:
        typed: str = self.cleaned_data["typed_name"]
        if typed != self.companion.name.strip():
            raise forms.ValidationError(_("This does not match its name."))
        return typed


@require_safe
def welcome(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return redirect("companions")
    return render(request, "welcome.html")


@page_view
def companions(request: SignedInRequest) -> HttpResponse:
    """Show the inbox: each companion with the last message of the talk and the unread count, newest talk first."""
    last = Coalesce("conversation__head__said_at", "created_at")
    mine = (
        Companion.objects.owned_by(request.user)
        .select_related("conversation__head")
        .order_by(last.desc(), "pk")
    )
    if not mine:
        return redirect("companion_new")
    counts = count_unread(request.user, timezone.now())
    context: dict[str, Any] = {
        "people": [(companion, counts.get(companion.pk, 0)) for companion in mine],
        "unread_total": sum(counts.values()),
    }
    if request.htmx:  # the list beside a talk, also as reloaded when a companion writes first
        context["open"] = request.GET.get("open", "")
        return render(request, "companions/_people.html", context)
    return render(request, "companions/companions.html", context)


@form_view
def edit(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show the companion's settings, with its exports and its deletion; on POST, save the form."""
    companion = get_companion(request.user, companion_id)
    form = TalkSettingsForm(request.POST or None, instance=companion)
    if form.is_bound and form.is_valid():
        companion.save(update_fields=form.Meta.fields)  # no other field, which may have changed meanwhile
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
        request,
        _("%(name)s has been deleted, along with everything that was said and remembered.")
        % {"name": companion.name},
    )
    return redirect("companions")


@post_view
def delete_rehearsals(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion = get_companion(request.user, companion_id)
    count = delete_rehearsed(companion, timezone.now())
    said = ngettext(
        "%(count)s rehearsed answer has been deleted.",
        "%(count)s rehearsed answers have been deleted.",
        count,
    )
    messages.success(request, said % {"count": count})
    return redirect("companion", companion.pk)


def _companion_page(
    request: SignedInRequest,
    companion: Companion,
    form: TalkSettingsForm | None = None,
    deletion_form: TypedNameForm | None = None,
) -> HttpResponse:
    """Render the companion's settings page, with the given form in its place if it has errors."""
    form = form or TalkSettingsForm(instance=companion)
    deletion_form = deletion_form or TypedNameForm(companion)
    context = {
        "companion": companion,
        "form": form,
        "deletion_form": deletion_form,
        "rehearsed": companion.messages.filter(is_rehearsed=True).count(),
        "gallery_is_open": settings.GALLERY,
        "is_published": GalleryCharacter.objects.filter(companion=companion).exists(),
    }
    status = UNPROCESSABLE if form.is_bound or deletion_form.is_bound else 200
    return render(request, "companions/companion.html", context, status=status)
