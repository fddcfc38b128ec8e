"""The admin of the gallery: published characters, the decisions on their versions, and reports."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, F, Q
from django.db.models.fields.json import KeyTextTransform
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from accounts.models import User
from companions.errors import GalleryError
from companions.gallery import catalogue, decisions
from companions.gallery.publication import read_origin
from companions.gallery.submission import MAY_DECIDE
from companions.models import GalleryCharacter, GalleryReport, GalleryVersion
from files.errors import FilesError
from files.responses import serve
from safety.admin import PrivateAdmin, describe_name, link, link_to, may_open, moment, number, state
from safety.audit import get_operator, record
from safety.models import AuditEntry
from text.strings import storable

State = GalleryVersion.State
COLOURS = {
    State.WAITING: "warning",
    State.APPROVED: "success",
    State.REJECTED: "danger",
    State.TAKEN_DOWN: "danger",
}


@admin.register(GalleryCharacter)
class GalleryCharacterAdmin(PrivateAdmin):
    """A character that a user published, with links to its versions."""

    asks_for_reason = False
    owner_path = "user"
    named_by = "created_at"
    linked = {"version": GalleryVersion}
    annotations = {
        "version_count": Count("versions", distinct=True),
        "report_count": Count("reports", filter=Q(reports__settled_at=None), distinct=True),
    }
    list_display = (
        moment("created_at", _("first submitted")),
        *("owner", "of_companion"),
        number("version_count", _("versions")),
        number("report_count", _("open reports")),
    )
    list_filter = ("created_at",)
    fields = ("id", "owner", "of_companion", "created_at", "of_versions")

    @admin.display(description=_("versions"))
    def of_versions(self, character: Any) -> str:
        """Return links to all versions of the character, newest first."""
        versions = character.versions.order_by("-number").values_list("pk", "number", "state")
        label, opens = GalleryVersion._meta.label, character.version_opens
        shown = [
            link_to(label, pk, f"{number} ({State(value).label})", opens=opens)
            for pk, number, value in versions
        ]
        return format_html("{} " * len(shown), *shown) if shown else "–"


@admin.register(GalleryVersion)
class GalleryVersionAdmin(PrivateAdmin):
    """A version as it was sent in: an operator reads all of it, and approves or rejects it with a reason."""

    asks_for_reason = False
    owner_path = "character__user"
    named_by = "submitted_at"
    titled_by = "name"
    search_ids = ("pk", "character")
    annotations = {"own_name": F("name")}
    list_display = (
        moment("submitted_at", _("submitted")),
        *("called", "owner", "number", "shown_state", "rating", "language", "licence"),
        moment("decided_at", _("decided")),
    )
    list_filter = ("state", "rating", "licence", "submitted_at")
    fields = (
        *("id", "owner", "of_character", "number", "state", "published_as", "language", "rating", "licence"),
        *("submitted_at", "decided_at", "by"),
    )
    private_template = "admin/companions/gallery_version.html"

    of_character = link("character", _("published character"))
    by = link("decided_by", _("decided by"))
    shown_state = state(COLOURS)

    @admin.display(description=_("name"), ordering="own_name")
    def called(self, version: Any) -> str:
        return describe_name(version.own_name)

    def get_urls(self) -> list[URLPattern]:
        ours = [
            path(
                "<uuid:object_id>/decide/",
                self.admin_site.admin_view(require_POST(self.decide)),
                name="companions_galleryversion_decide",
            ),
            path(
                "<uuid:object_id>/picture/",
                self.admin_site.admin_view(self.show_picture),
                name="companions_galleryversion_picture",
            ),
        ]
        return [*ours, *super().get_urls()]

    def decide(self, request: HttpRequest, object_id: UUID) -> HttpResponse:
        """Do what the posted `deed` says: approve, reject or take the version down, or settle its reports."""
        if not request.user.has_perm(MAY_DECIDE):
            raise PermissionDenied
        version = get_object_or_404(GalleryVersion.objects.select_related("character"), pk=object_id)
        operator, deed, now = get_operator(request), request.POST.get("deed"), timezone.now()
        reason, rating = storable(request.POST.get("reason", ""))[:1_000], request.POST.get("rating", "")
        try:
            match deed:
                case State.APPROVED | State.REJECTED | State.TAKEN_DOWN:
                    is_known = rating in GalleryVersion.Rating.values
                    chosen = {"reason": reason, "rating": rating if is_known else ""}
                    decisions.decide(operator, version, State(deed), now, **chosen)
                    messages.success(request, gettext("Done. The publisher will see this on their page."))
                case "settle":
                    count = decisions.settle_reports(operator, version, now)
                    said = ngettext(
                        "%(n)d report has been dealt with.", "%(n)d reports have been dealt with.", count
                    )
                    messages.success(request, said % {"n": count})
        except GalleryError as error:
            messages.error(request, str(error.detail))
        return redirect("admin:companions_galleryversion_change", version.pk)

    def show_picture(self, request: HttpRequest, object_id: UUID) -> HttpResponseBase:
        """Serve the version's picture, and record that the operator opened it."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        version = get_object_or_404(GalleryVersion.objects.exclude(picture=None), pk=object_id)
        operator = get_operator(request)
        record(operator, AuditEntry.Deed.OPENED, GalleryVersion, version.pk, self.owner_of(version.pk))
        try:
            return serve(request, version.picture)  # type: ignore[arg-type]
        except FilesError as error:
            return HttpResponse(str(error.detail), status=error.status, content_type="text/plain")

    def private(self, request: HttpRequest, thing: GalleryVersion) -> dict[str, Any]:
        approved = decisions.find_approved(thing)
        approved = None if approved == thing else approved
        return {
            "version": thing,
            "entry": catalogue.make_entry(thing),
            "shown": catalogue.preview(thing.content),
            "origin": read_origin(thing.content),
            "approved": approved,
            "differences": decisions.list_differences(approved, thing) if approved else [],
            "reports": list(decisions.list_open_reports(thing).order_by("-created_at")[:50]),
            "may_decide": request.user.has_perm(MAY_DECIDE),
            "ratings": GalleryVersion.Rating.choices,
        }


@admin.register(GalleryReport)
class GalleryReportAdmin(PrivateAdmin):
    """A user's report about a published character, with a copy of the character as it was then."""

    asks_for_reason = False
    owner_path = "user"
    named_by = "created_at"
    titled_by = "copied_name"
    words = ("text",)
    private_template = "admin/companions/gallery_report.html"
    search_ids = ("pk", "character")
    annotations = {"copied_name": KeyTextTransform("name", "copy__published")}
    list_display = (
        moment("created_at", _("reported")),
        *("called", "owner", "kind", "of_character", "number"),
        moment("settled_at", _("resolved")),
    )
    list_filter = ("kind", ("settled_at", admin.EmptyFieldListFilter), "created_at")
    fields = ("id", "owner", "of_character", "number", "kind", "created_at", "settled_at")

    of_character = link("character", _("published character"))

    @admin.display(description=_("reported by"), ordering="owner_email")
    def owner(self, thing: Any) -> str:
        return super().owner(thing)

    @admin.display(description=_("name"), ordering="copied_name")
    def called(self, report: Any) -> str:
        return describe_name(report.copied_name) or "–"

    def get_urls(self) -> list[URLPattern]:
        settle = self.admin_site.admin_view(require_POST(self.settle))
        name = "companions_galleryreport_settle"
        return [path("<uuid:object_id>/settle/", settle, name=name), *super().get_urls()]

    def settle(self, request: HttpRequest, object_id: UUID) -> HttpResponse:
        """Mark the report as settled."""
        if not request.user.has_perm(MAY_DECIDE):
            raise PermissionDenied
        report = get_object_or_404(GalleryReport, pk=object_id)
        if decisions.settle_report(get_operator(request), report, timezone.now()):
            messages.success(request, gettext("The report has been dealt with."))
        return redirect("admin:companions_galleryreport_change", report.pk)

    def private(self, request: HttpRequest, thing: GalleryReport) -> dict[str, Any]:
        version = decisions.read_copy(thing.copy) if thing.copy else None
        publisher = thing.copy.user if thing.copy else None
        published = GalleryVersion.objects.filter(character=thing.character_id, number=thing.number).first()
        decision = publisher_link = ""
        if published and may_open(request, GalleryVersion):
            decide = gettext("Decide about this version")
            decision = link_to("companions.galleryversion", published.pk, decide)
        if publisher:
            opens = may_open(request, User)
            publisher_link = link_to("accounts.user", publisher.pk, publisher.email, opens=opens)
        return {
            "decision": decision,
            "report": thing,
            "version": version,
            "shown": catalogue.preview(version.content) if version else None,
            "publisher": publisher_link,
            "may_decide": request.user.has_perm(MAY_DECIDE),
        }
