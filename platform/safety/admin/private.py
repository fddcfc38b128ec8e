"""The only access to people's words in the admin: every page opened here leaves an audit entry."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import reduce, update_wrapper
from typing import Any, ClassVar, cast
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import unquote
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import SuspiciousOperation, ValidationError
from django.db import models, transaction
from django.db.models import F, ForeignKey, Model, Q, QuerySet, Value
from django.db.models.expressions import Combinable
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern
from django.utils import timezone
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext, pgettext, pgettext_lazy
from pgvector.django import VectorField
from unfold.admin import ModelAdmin
from unfold.views import ChangeList

from accounts.admin import PlainLookups, ReadOnly
from accounts.models import User
from database.queries import lift_statement_timeout
from safety.admin.columns import describe_name, link, may_open
from safety.admin.reason import ask_for_reason, find_reason
from safety.audit import get_operator, record, record_search
from safety.descriptions import link_to, render_data
from safety.models import AuditEntry
from text.strings import one_line

View = Callable[..., HttpResponseBase]
UNRECORDED_PARAMETERS = {"p", "o", "all", "e"}  # which page, in which order
# Longer queries are refused, since a query is recorded in full.
MAX_QUERY_CHARACTERS = 8_000
FIELDS_WITH_WORDS = (models.TextField, models.JSONField, models.BinaryField, ArrayField, VectorField)


class PrivateChangeList(ChangeList):  # type: ignore[misc]
    """A list that does not load the fields with people's words."""

    def get_queryset(self, request: HttpRequest, *args: Any, **kwargs: Any) -> QuerySet[Any]:
        words = [
            field.name for field in self.model._meta.concrete_fields if isinstance(field, FIELDS_WITH_WORDS)
        ]
        queryset: QuerySet[Any] = super().get_queryset(request, *args, **kwargs)
        return queryset.defer(*words)


class PrivateAdmin(ReadOnly, PlainLookups, ModelAdmin):  # type: ignore[misc]
    """Base admin of a model that contains people's words.

    Each of its pages writes an AuditEntry before anything is shown. An object's own pages first ask why they are
    opened (`asks_for_reason`), and so do actions on its lists, unless people hand such objects to operators to
    read. Its lists contain no words but companions' names, and are searched by ids and e-mail addresses; its
    objects are read-only. Links to an object show its field `named_by`, if the operator may view it, and its own
    page's title is `titled_by`: one of its `words`, or a name (`companion_called`). If `is_erasable`, operators
    with the right may delete objects, which is recorded; `erase` decides how far that reaches. `annotations` can be
    shown in lists like fields. `linked` are the models that columns other than `link` lead to, by the name of the
    annotation (`…_opens`) that tells whether the operator may open them.
    """

    owner_path: ClassVar[str] = "companion__user"
    named_by: ClassVar[str] = ""
    titled_by: ClassVar[str] = ""
    search_ids: ClassVar[tuple[str, ...]] = ("pk", "companion")
    words: ClassVar[tuple[str, ...]] = ()
    annotations: ClassVar[dict[str, Combinable]] = {}
    is_erasable: ClassVar[bool] = False
    asks_for_reason: ClassVar[bool] = True
    linked: ClassVar[dict[str, type[Model]]] = {}

    search_fields = ("pk",)
    search_help_text = _("An id, or part of the owner's e-mail")
    list_per_page = 50
    list_select_related: Any = False
    show_full_result_count = False
    change_form_outer_after_template = "admin/private/page.html"
    private_template: ClassVar[str] = "admin/private/words.html"

    # -- recording

    def get_urls(self) -> list[URLPattern]:
        urls: list[URLPattern] = super().get_urls()
        for url in urls:
            url.callback = self._on_record(url.callback)
        return urls

    def _on_record(self, view: View) -> View:
        """Return the view wrapped so that it returns its page only after recording that it was opened."""

        def recorded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if len(request.META["QUERY_STRING"]) > MAX_QUERY_CHARACTERS:
                raise SuspiciousOperation("More is asked of a page than can be recorded.")
            owner_id = self._find_owner(kwargs.get("object_id"))
            if owner_id is not None and self._must_say_why(request, owner_id):
                asked: HttpResponse = admin.site.admin_view(self._ask_why)(request, owner_id)
                return asked
            response = view(request, *args, **kwargs)
            if response.status_code < 300:
                self._record_look(request, response, kwargs.get("object_id"), owner_id)
            return response

        return update_wrapper(recorded, view)

    def _find_owner(self, quoted_id: str | None) -> int | None:
        """Return the id of the object's owner, or None if there is no such object."""
        if quoted_id is None:
            return None
        with suppress(ValueError, ValidationError):  # it is no id of this kind
            return self.owner_of(unquote(quoted_id))
        return None

    def _ask_why(self, request: HttpRequest, owner_id: int) -> HttpResponse:
        """Return the page that asks for the reason, or the way to what was to be opened once it is given."""
        owner = User.objects.get(pk=owner_id)
        return ask_for_reason(request, [owner], is_action=False) or redirect(request.get_full_path())

    def _must_say_why(self, request: HttpRequest, owner_id: int) -> bool:
        """Return whether the operator may open what is this person's, and has yet to say why."""
        if owner_id == request.user.pk or not self.asks_for_reason:
            return False
        is_allowed = admin.site.has_permission(request) and self.has_view_permission(request)
        return is_allowed and not find_reason(request, owner_id)

    def _record_look(
        self, request: HttpRequest, response: HttpResponseBase, quoted_id: str | None, owner_id: int | None
    ) -> None:
        operator = get_operator(request)
        asked = [
            f"{name}={value}"
            for name, values in request.GET.lists()
            for value in values
            if value and name not in UNRECORDED_PARAMETERS
        ]
        if quoted_id is not None:
            why = find_reason(request, owner_id)
            record(operator, AuditEntry.Deed.OPENED, self.model, unquote(quoted_id), owner_id, why)
        elif asked:
            shown = (getattr(response, "context_data", None) or {}).get("cl")
            owners = {thing.owner_id for thing in shown.result_list} if shown else set()
            record_search(operator, self.model, "\n".join(asked), owners)
        else:
            record(operator, AuditEntry.Deed.LISTED, self.model)

    def owner_of(self, object_id: Any) -> int | None:
        """Return the id of the user who owns the object, or None if there is none."""
        things = self.model._base_manager.filter(pk=object_id)
        owner: int | None = things.values_list(self.owner_path, flat=True).first()
        return owner

    # -- lists

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        everywhere = getattr(self.model, "everywhere", None)  # on all branches of a conversation
        queryset: QuerySet[Any] = everywhere.all() if everywhere else super().get_queryset(request)
        queryset = queryset.order_by(*self.get_ordering(request)) if everywhere else queryset
        owned = queryset.annotate(owner_email=F(f"{self.owner_path}__email"), owner_id=F(self.owner_path))
        return cast(QuerySet[Any], owned.annotate(**self.annotations, **self._find_links(request)))

    def _find_links(self, request: HttpRequest) -> dict[str, Combinable]:
        """Return annotations that say which linked objects the operator may open, and those objects' names."""
        columns = (
            getattr(type(self), str(name), None) for name in (*self.list_display, *(self.fields or ()))
        )
        links: dict[str, Any] = {"owner_opens": Value(may_open(request, User))}
        for name, model in self.linked.items():
            links[f"{name}_opens"] = Value(may_open(request, model))
        for field in {key for column in columns if (key := getattr(column, "key", ""))}:
            referred: Any = self.model._meta.get_field(field).related_model
            name = getattr(admin.site.get_model_admin(referred), "named_by", "")
            opens = may_open(request, referred)
            links[f"{field}_opens"] = Value(opens)
            if name and opens:
                links[f"{field}_called"] = F(f"{field}__{name}")
        return links

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return PrivateChangeList

    @admin.display(description=_("owner"), ordering="owner_email")
    def owner(self, thing: Any) -> str:
        return link_to("accounts.user", thing.owner_id, thing.owner_email, opens=thing.owner_opens)

    of_companion = link("companion", _("companion"))

    @admin.display(description=pgettext_lazy("link", "page"), ordering="pk")
    def page(self, thing: Any) -> str:
        return pgettext("link", "open")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Search by the ids in `search_ids`, or by a part of the owner's e-mail address."""
        term = search_term.strip()
        if not term:
            return queryset, False
        wanted = Q(**{f"{self.owner_path}__email__icontains": term})
        for path in self.search_ids:
            field: Any = self.model._meta.pk if path == "pk" else self.model._meta.get_field(path)
            field = field.target_field if isinstance(field, ForeignKey) else field
            with suppress(ValueError):  # the term is not an id of this kind
                wanted |= Q(**{path: UUID(term) if isinstance(field, models.UUIDField) else int(term)})
        return queryset.filter(wanted), False

    def to_field_allowed(self, request: HttpRequest, to_field: str) -> bool:
        """Forbid choosing private objects in other admins' forms."""
        return False

    def response_action(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        """Ask for the reason before an action on other people's objects, once for all of them."""
        is_across = request.POST.get("select_across", "0") != "0"
        selected = request.POST.getlist(ACTION_CHECKBOX_NAME)
        rows = queryset if is_across else queryset.filter(pk__in=selected)
        owner_ids = set(rows.values_list("owner_id", flat=True)[: self.max_selected_rows])
        unexplained = [id for id in owner_ids if id and self._must_say_why(request, id)]
        if unexplained and any(request.POST.getlist("action")):
            owners = User.objects.filter(pk__in=unexplained).order_by("email")
            if asked := ask_for_reason(request, owners, is_action=True):
                return asked
        response: HttpResponse | None = super().response_action(request, queryset)
        return response

    # -- an object's page

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Any = None, **kwargs: Any
    ) -> Any:
        if obj is not None:
            context |= {"private_template": self.private_template, "owner_email": obj.owner_email}
            obj.page_title = context["subtitle"] = self.entitle(obj)
            context |= self.private(request, obj)
        return super().render_change_form(request, context, *args, obj=obj, **kwargs)

    def private(self, request: HttpRequest, thing: Any) -> dict[str, Any]:
        """Return the template context of the page's private part."""
        fields: list[Any] = [self.model._meta.get_field(name) for name in self.words]
        values = ((field, getattr(thing, field.name)) for field in fields)
        return {
            "words": [
                (
                    field.verbose_name,
                    render_data(value) if isinstance(value, dict | list) and value else value,
                )
                for field, value in values
            ]
        }

    def entitle(self, thing: Any) -> str:
        """Return the title of the object's own page: the beginning of `titled_by`, otherwise as `call` does."""
        parts = self.titled_by.split(".") if self.titled_by else ()
        value = reduce(lambda found, part: getattr(found, part, None), parts, thing) if parts else None
        return describe_name(one_line(value) if isinstance(value, str) else value) or self.call(thing)

    def call(self, thing: Any) -> str:
        """Return the object's name without its words: `named_by`, otherwise its kind and the beginning of its id."""
        name = describe_name(getattr(thing, self.named_by)) if self.named_by else ""
        return name or f"{capfirst(self.opts.verbose_name)} {str(thing.pk)[:8]}"

    @admin.display(description=_("id"))
    def own_id(self, thing: Any) -> str:
        return format_html('<span class="kith-id kith-soft">{}</span>', thing.pk)

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[Any, ...]:
        """Return the fields of the page, with the id last, since it matters least."""
        fields = tuple(field for field in self.fields or () if field != "id")
        return (*fields, "own_id") if "id" in (self.fields or ()) else fields

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[Any, ...]:
        return self.get_fields(request, obj)

    # -- rights

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.is_erasable and bool(super(ReadOnly, self).has_delete_permission(request, obj))

    # -- deleting

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Return the objects without their dependents, which no further right is needed to delete."""
        things = [str(thing) for thing in objs]
        name = ngettext(self.opts.verbose_name, self.opts.verbose_name_plural, len(things))
        return things, {name: len(things)}, set(), []

    def erase(self, thing: Any, now: datetime) -> None:
        """Delete the object; override it to delete its words wherever else they went, too."""
        thing.delete()

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        with transaction.atomic():
            lift_statement_timeout()
            owner_id = self.owner_of(obj.pk)
            why = find_reason(request, owner_id)
            record(get_operator(request), AuditEntry.Deed.DELETED, self.model, obj.pk, owner_id, why)
            self.erase(obj, timezone.now())

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Delete the objects one by one, since deleting one may delete another."""
        for pk in list(queryset.values_list("pk", flat=True)):
            if thing := self.model._base_manager.filter(pk=pk).first():
                self.delete_model(request, thing)
