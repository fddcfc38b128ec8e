"""Uploaded files, recognised by their content and previewed before an import; and exports of companions as files.

Earlier talk has pages of its own once it is uploaded: `pasts.py`.
"""

from io import SEEK_END, BytesIO
from typing import Any, BinaryIO
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_safe

from accounts.authentication import SignedInRequest
from accounts.idempotency import create_once, find_made
from accounts.limits.rates import admit_to
from cards.reader import read_card
from companions.access import get_archive_upload, get_card_upload, get_companion
from companions.archives import uploads as archive_uploads
from companions.archives.export import archive_response
from companions.archives.manifest import looks_like_archive
from companions.errors import CompanionsError
from companions.lore.editing import make_book
from companions.models import ArchiveUpload, CardUpload, Companion
from companions.models.past import PastForm
from companions.pages.context import show_size_warning
from companions.pages.lore import tell_of_book
from companions.pages.shortcuts import UNPROCESSABLE, form_view, post_view, read_beginning
from companions.pasts import uploads as past_uploads
from companions.transfer import card_import, digital_life
from companions.transfer.account import account_export_response, is_export
from companions.transfer.card_export import card_response
from companions.transfer.card_preview import describe
from companions.transfer.digital_life_export import export_mind
from companions.transfer.digital_life_import import import_mind
from companions.transfer.json_export import export_response
from files.archives import is_zip
from files.errors import FilesError
from files.uploads import open_upload, refuse_size
from pasts.past import MAX_BYTES as MAX_PAST_BYTES
from pasts.reader import is_plain_text, looks_like_past

# Replaces errors of the card reader, because the file need not have been meant as a card.
REFUSALS: dict[str, Promise] = {
    "no_card": gettext_lazy(
        "Kith does not recognise this file. It takes character cards, lorebooks, archives of companions and"
        " earlier talk; in plain text, each message must begin with who says it, as in “Anna: Good morning”."
    ),
    "broken_zip": gettext_lazy("This file is broken or incomplete. Download it again, or export it again."),
    "broken_json": gettext_lazy(
        "The JSON in this file is broken. Export it again from the program it came from."
    ),
}


@post_view
def bring(request: SignedInRequest) -> HttpResponse:
    """Recognise the uploaded file and go on with it: a card, earlier talk or an archive goes to its preview, a mind of
    DigitalLife becomes a companion, and a lorebook is saved for all of the person's companions.

    If the file is refused, go back to the form and show why.
    """
    now = timezone.now()
    try:
        admit_to(request.user, "imports", now)
        file = open_upload(request, settings.ARCHIVE_BYTES)
        if is_export(file):
            raise card_import.CardError(
                "own_export",
                _(
                    "This is a download for reading and keeping, from which nothing can be restored. To bring a"
                    " companion here, use its archive: “Download the archive” in its settings."
                ),
            )
        if is_zip(file) and looks_like_archive(file):
            return redirect("archive", archive_uploads.keep_upload(request.user, file, now).pk)
        if file.seek(0, SEEK_END) > MAX_PAST_BYTES:
            return _look_at_large_card(request, file)
        file.seek(0)
        content = file.read()
        if digital_life.looks_like_mind(content):
            return _move_in(request, content)
        if looks_like_past(BytesIO(content)):
            read = past_uploads.read_content_of(request.user, content)
            return _look_at_past(request, content, read.form)
        if is_plain_text(BytesIO(content)):  # the person may know the pattern by which it tells who speaks
            return _look_at_past(request, content, PastForm.TEXT)
        return _look_at_card(request, content)
    except (FilesError, CompanionsError) as error:
        messages.error(request, str(REFUSALS.get(error.code, error.detail)))
        return _go_back(request)


def _go_back(request: SignedInRequest) -> HttpResponse:
    """Redirect to the page that the file was uploaded on: a companion's imports, or the page for a new companion."""
    try:
        companion = get_companion(request.user, UUID(request.POST.get("companion", "")))
    except ValueError:
        return redirect("companion_new")
    return redirect("imports", companion.pk)


def _look_at_card(request: SignedInRequest, content: bytes) -> HttpResponse:
    """Store the card and go to its preview; save a lorebook for good. Raise FilesError or CompanionsError."""
    read = read_card(content)
    if read.form == CardUpload.Form.LOREBOOK:
        book = make_book(request.user, read.card["data"], timezone.now())
        tell_of_book(request, book, read.remarks)
        companion = Companion.objects.owned_by(request.user).order_by("-created_at").first()
        if companion:
            return redirect("lorebook", companion.pk, book.pk)
        messages.info(request, _("It applies to all your companions. Choose your first one."))
        return redirect("companion_new")
    return redirect("card", card_import.keep_upload(request.user, read, content, timezone.now()).pk)


def _look_at_large_card(request: SignedInRequest, file: BinaryIO) -> HttpResponse:
    """Store a card above the size of other files, e.g. a CHARX with large pictures, and go to its preview.

    Raise FilesError, LimitError or another CompanionsError.
    """
    file.seek(0)
    if looks_like_past(file):
        raise refuse_size(MAX_PAST_BYTES)
    if file.seek(0, SEEK_END) > settings.CARD_BYTES:
        raise refuse_size(settings.CARD_BYTES)
    read = read_card(file)
    return redirect("card", card_import.keep_upload(request.user, read, file, timezone.now()).pk)


def _look_at_past(request: SignedInRequest, content: bytes, form: str) -> HttpResponse:
    """Store earlier talk and go to its preview, for the companion on whose page it was uploaded; raise FilesError."""
    name = getattr(request.FILES["file"], "name", "")
    kept = past_uploads.keep_upload(request.user, content, form, name, timezone.now())
    given = request.POST.get("companion", "")
    address = reverse("past", args=[kept.pk])
    return redirect(f"{address}?{urlencode({'companion': given})}" if given else address)


def _move_in(request: SignedInRequest, content: bytes) -> HttpResponse:
    """Make a companion of a DigitalLife file; raise DigitalLifeError or LimitError."""
    mind = digital_life.parse_mind(content)
    companion = import_mind(request.user, mind, timezone.now())
    entries = len(mind.longTermMemory)
    words = {
        "name": companion.name,
        "messages": ngettext("%(n)s message", "%(n)s messages", mind.messages) % {"n": mind.messages},
        "diary": ngettext("%(n)s diary entry", "%(n)s diary entries", entries) % {"n": entries},
    }
    messages.success(request, _("%(name)s has moved in, with %(messages)s and %(diary)s.") % words)
    return redirect("talk", companion.pk)


@form_view
def card(request: SignedInRequest, upload_id: UUID) -> HttpResponse:
    """Show all that an uploaded card holds, including its hidden parts; on POST, make a companion of it.

    The upload is gone once its companion is made: a second POST goes to the talk, the browser's Back to the characters.
    """
    made = find_made(request.user, "make_of_card", str(upload_id))
    companion = made and Companion.objects.owned_by(request.user).filter(pk=made).first()
    if companion and request.method == "POST":
        return redirect("talk", companion.pk)
    if companion:
        messages.info(request, _("You have made %(name)s from this card.") % {"name": companion.name})
        return redirect("companion_new")
    found = get_card_upload(request.user, upload_id)
    refusal = ""
    if request.method == "POST":
        name, greeting = read_beginning(request)

        def make() -> UUID:
            now = timezone.now()
            admit_to(request.user, "companions", now)
            return card_import.make_companion(found, now, name=name, greeting=greeting).pk

        try:
            made_id, _is_new = create_once(
                request.user, "make_of_card", str(found.pk), "", make
            )  # idempotent
        except CompanionsError as error:
            refusal = str(error.detail)
        else:
            show_size_warning(request, get_companion(request.user, made_id))
            return redirect("talk", made_id)
    context: dict[str, Any] = {"upload": found, "shown": describe(found), "refusal": refusal}
    return render(request, "companions/card.html", context, status=UNPROCESSABLE if refusal else 200)


@form_view
def archive(request: SignedInRequest, archive_id: UUID) -> HttpResponse:
    """Show what an uploaded archive holds, and later the progress and outcome of its restore.

    On POST, begin the restore, or with `drop` delete the upload if its restore has not begun.
    """
    upload = get_archive_upload(request.user, archive_id)
    refusal = ""
    if request.method == "POST":
        now = timezone.now()
        if "drop" in request.POST and upload.state == ArchiveUpload.State.KEPT:
            archive_uploads.drop_upload(upload)
            return redirect("companion_new")
        try:
            admit_to(request.user, "companions", now)
            archive_uploads.begin(upload, now)  # idempotent: a double tap begins one restore
            return redirect("archive", upload.pk)
        except CompanionsError as error:
            refusal = str(error.detail)
    shown = archive_uploads.preview(upload)
    namesakes = Companion.objects.owned_by(request.user).filter(name__iexact=shown.name)
    if upload.companion_id:
        namesakes = namesakes.exclude(pk=upload.companion_id)
    context = {
        "upload": upload,
        "shown": shown,
        "has_namesake": namesakes.exists(),
        "refusal": refusal,
        "states": ArchiveUpload.State,
    }
    return render(request, "companions/archive.html", context, status=UNPROCESSABLE if refusal else 200)


@require_safe
@login_required
def export_card(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Return the companion's character as a card file, of the version in `?spec=` and the form in `?as=`."""
    companion = get_companion(request.user, companion_id)
    try:
        return card_response(
            companion, timezone.now(), spec=request.GET.get("spec", "v3"), form=request.GET.get("as", "png")
        )
    except (FilesError, card_import.CardError) as error:
        messages.error(request, str(error.detail))
        return redirect("companion", companion.pk)


@require_safe
@login_required
def export_archive(request: SignedInRequest, companion_id: UUID) -> StreamingHttpResponse:
    return archive_response(get_companion(request.user, companion_id))


@require_safe
@login_required
def export(request: SignedInRequest, companion_id: UUID) -> StreamingHttpResponse:
    return export_response(get_companion(request.user, companion_id))


@require_safe
@login_required
def export_all(request: SignedInRequest) -> StreamingHttpResponse:
    return account_export_response(request.user)


@require_safe
@login_required
def export_digital_life(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion = get_companion(request.user, companion_id)
    disposition = f'attachment; filename="digital-life-{companion.pk}.json"'
    return JsonResponse(export_mind(companion), headers={"Content-Disposition": disposition})
