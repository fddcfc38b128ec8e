"""The admin of embedding spaces: the progress of each, and embedding again or deleting, both audited."""

from collections.abc import Mapping
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Case, Count, Exists, IntegerField, OuterRef, Q, QuerySet, Value, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import action

from accounts.admin import PlainLookups, ReadOnly
from memory.embedding.spaces import (
    IDENTITY,
    count_served,
    create_next_edition,
    find_embedder,
    find_wanted_space,
)
from memory.errors import WidestError
from memory.models import Memory, Space
from memory.tasks import embed_waiting
from providers.errors import ProviderError
from safety.admin import data_column, moment
from safety.audit import get_operator, record
from safety.models import AuditEntry


@admin.register(Space)
class SpaceAdmin(ReadOnly, PlainLookups, ModelAdmin):  # type: ignore[misc]
    """The embedding spaces. Kith makes them itself; a space that is neither wanted nor serving can be deleted."""

    list_display = (
        *("__str__", "state", "embedded", "refused", "companions", "alarm"),
        moment("created_at", _("created")),
    )
    search_fields = ("model",)
    search_help_text = _("Part of a model's name")
    ordering = ("-pk",)
    fields = readonly_fields = (
        *("model", "width", "edition", "query_prefix", "document_prefix"),
        data_column("query_fields", _("extra fields of a query")),
        data_column("document_fields", _("extra fields of a document")),
        *("max_tokens", "created_at", "state", "embedded", "refused", "companions", "alarm"),
    )
    actions = None
    actions_detail = ("embed_again",)
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Space]:
        queryset: QuerySet[Space] = super().get_queryset(request)
        wanted = find_wanted_space()
        return queryset.annotate(
            done=Count("embeddings", filter=Q(embeddings__window=0, embeddings__vector__isnull=False)),
            refusals=Count("embeddings", filter=Q(embeddings__window=0, embeddings__vector=None)),
            serves=_by_id(count_served()),
            is_wanted=_by_id({wanted.pk: 1} if wanted else {}),
        )

    @admin.display(description=_("state"))
    def state(self, space: Any) -> str:
        claims = {gettext("wanted"): space.is_wanted, gettext("serving"): space.serves}
        return " · ".join(word for word, is_so in claims.items() if is_so) or gettext("not in use")

    @admin.display(description=_("embedded"), ordering="done")
    def embedded(self, space: Any) -> str:
        told = {"done": f"{space.done:,}", "all": f"{Memory.everywhere.count():,}"}
        return gettext("%(done)s of %(all)s memories") % told

    @admin.display(description=_("refused"), ordering="refusals")
    def refused(self, space: Any) -> int:
        return int(space.refusals)

    @admin.display(description=_("companions served"), ordering="serves")
    def companions(self, space: Any) -> int:
        return int(space.serves)

    @admin.display(description=_("alarm"))
    def alarm(self, space: Space) -> str:
        return describe_alarm(space) if space.answered_width else "–"

    # -- embedding again

    def has_embed_again_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Return whether the user may embed again, which is possible for the wanted space only."""
        wanted = find_wanted_space()
        is_wanted = object_id is None or (wanted is not None and str(wanted.pk) == str(object_id))
        return is_wanted and bool(request.user.has_perm("memory.change_space"))

    @action(description=_("Embed again"), url_path="embed-again", permissions=["embed_again"])  # type: ignore[untyped-decorator]
    def embed_again(self, request: HttpRequest, object_id: str) -> HttpResponse:
        space = get_object_or_404(Space, pk=object_id)
        if request.method != "POST":
            context = {**self.admin_site.each_context(request), "space": space, "opts": self.opts}
            return TemplateResponse(request, "admin/memory/embed_again.html", context)
        try:
            asked = find_embedder(space)
            width = asked.width if asked else space.width  # asks the server, so before the transaction
            with transaction.atomic():
                made = create_next_edition(space, width)
                record(get_operator(request), AuditEntry.Deed.CHANGED, Space, made.pk)
                transaction.on_commit(embed_waiting.delay, robust=True)
        except (ProviderError, WidestError) as error:
            messages.error(request, str(error))
            return redirect("admin:memory_space_change", space.pk)
        messages.success(
            request,
            gettext(
                "Everything is being embedded again; until that is done, the existing embeddings stay in use."
            ),
        )
        return redirect("admin:memory_space_change", made.pk)

    # -- removing

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        is_idle = obj is None or not (obj.is_wanted or obj.serves)
        return is_idle and bool(super(ReadOnly, self).has_delete_permission(request, obj))

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """List only the spaces themselves, with a count of the memories whose vectors are deleted with them."""
        spaces = list(objs)
        vectors = sum(space.done for space in spaces)
        return [str(space) for space in spaces], {gettext("embeddings"): vectors}, set(), []

    def delete_model(self, request: HttpRequest, obj: Space) -> None:
        wanted = find_wanted_space()
        with transaction.atomic():
            if obj == wanted or obj.pk in count_served():
                raise PermissionDenied
            record(get_operator(request), AuditEntry.Deed.DELETED, Space, obj.pk)
            super().delete_model(request, obj)


def describe_alarm(space: Space) -> str:
    """Return a sentence that tells an operator of the space's wrong width."""
    return gettext(
        "The server of %(space)s answers with %(answered)s numbers instead of %(width)s. None of its answers are kept,"
        " and recall goes on with the existing embeddings. If this change is intended, embed again."
    ) % {"space": space, "answered": space.answered_width, "width": space.width}


def alarms() -> list[dict[str, Any]]:
    """Return a sentence and a link for each space whose server answers in another width and has no later edition."""
    told = {name: OuterRef(name) for name in IDENTITY}
    later = Space.objects.filter(**told, edition__gt=OuterRef("edition"))
    strange = Space.objects.exclude(answered_width=None).exclude(Exists(later)).order_by("pk")
    return [
        {"sentence": describe_alarm(space), "link": reverse("admin:memory_space_change", args=[space.pk])}
        for space in strange
    ]


def _by_id(numbers: Mapping[int, int]) -> Case:
    """Return an expression for the number that belongs to the row's id, or 0 if there is none."""
    whens = [When(pk=pk, then=Value(number)) for pk, number in numbers.items()]
    return Case(*whens, default=Value(0), output_field=IntegerField())
