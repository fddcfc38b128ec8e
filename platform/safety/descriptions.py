"""Codes and JSON rendered in words, and links, for operators' pages."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.apps import apps
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

Describe = Callable[[str], str]
MAX_DEPTH = 12  # of JSON that is rendered as nested lists
# Words for codes that no model's choices give a label.
CODES: dict[str, str | Promise] = {
    # why a call of a model, or work with one, failed
    "provider_error": _("the model failed"),
    "provider_unavailable": _("the model could not be reached"),
    "answer_unfinished": _("the model did not finish its answer"),
    "provider_busy": _("the model was busy"),
    "provider_refused": _("the model's server refused the request"),
    "limit_reached": _("the server's limit was reached"),
    "model_missing": _("the model was not available"),
    "model_loading": _("the model was loading"),
    "answer_withheld": _("the answer was withheld"),
    "context_too_long": _("the prompt was too long"),
    "empty_answer": _("the answer was empty"),
    "malformed_answer": _("the answer could not be read"),
    "answer_limit": _("the answer was cut at its limit"),
    "answer_loop": _("the answer repeated itself and was cut"),
    "cut_off": _("the answer was cut off"),
    "own_model_failed": _("the person's own model failed"),
    "no_tokens": _("the day's tokens were used up"),
    "no_tokens_left": _("the day's tokens were used up"),
    "disk_full": _("the disk was full"),
    "internal_error": _("a fault in Kith itself"),
    # why a message was not sent, and its channel
    "mail_refused": _("the mail server refused the message"),
    "mail_unreachable": _("the mail server could not be reached"),
    "gone": _("what it was for no longer exists"),
    "not_signed": _("it could not be signed"),
    "sealed_otherwise": _("encrypted with a different key"),
    "email": _("by e-mail"),
    "push": _("by notification"),
    # why a companion did not wake, or did not write
    "life_off": _("life between talks is off"),
    "asleep": _("it was asleep"),
    "too_late": _("it was too late"),
    "nothing_new": _("nothing new had been said"),
    "too_many_a_day": _("it had woken too often"),
    "shut_out": _("its person's account was disabled"),
    "not_opted_in": _("it may not write first"),
    "muted": _("it was muted"),
    "goodbye": _("its person had said goodbye"),
    "quiet_hours": _("quiet hours"),
    "enough_today": _("it had written enough that day"),
    "unanswered": _("its earlier message had not been answered"),
    "talked_since": _("its person had written in the meantime"),
    # timers that every companion has
    "morning": pgettext_lazy("a timer", "every morning"),
    "evening": pgettext_lazy("a timer", "every evening"),
    # learning's verdicts on statements, and their outcomes
    "add": pgettext_lazy("a verdict", "new"),
    "reinforce": pgettext_lazy("a verdict", "said again"),
    "revise": pgettext_lazy("a verdict", "revised"),
    "retract": pgettext_lazy("a verdict", "taken back"),
    "added": pgettext_lazy("an outcome", "added"),
    "reinforced": pgettext_lazy("an outcome", "strengthened"),
    "revised": pgettext_lazy("an outcome", "revised"),
    "retracted": pgettext_lazy("an outcome", "taken back"),
    "already": pgettext_lazy("an outcome", "already known"),
    "stopped": pgettext_lazy("an outcome", "not kept"),
    "kept": pgettext_lazy("an outcome", "kept"),
    "unknown_memory": _("it refers to a memory that does not exist"),
    "unreadable": _("it could not be read"),
    "forgotten": _("its person had asked for it to be forgotten"),
    "private": _("it is kept from models"),
    "another_subject": _("it is about something else"),
    "not_theirs": _("it was not theirs to change"),
    "older": _("it is older"),
    "contradiction": _("contradiction"),
    "another_telling": _("it names other people, days or numbers"),
    "settled": _("it settles what was open"),
    "not_denied": _("nothing that was said denies it"),
    "joke": _("meant as a joke"),
    "irony": _("meant ironically"),
    "if": _("only imagined"),
    "role_play": _("part of a game or a story"),
    "quotation": _("somebody else's words"),
    "request": pgettext_lazy("how a line is meant", "a request"),
    "question": pgettext_lazy("how a line is meant", "a question"),
    "taken_back": _("taken back right afterwards"),
    "over": _("it is no longer true"),
    "not_said": _("it was not said like this"),
    "no_such_line": _("it refers to a line that does not exist"),
    "secret": _("it contains a secret, such as a password"),
    "no_quote": _("its quotes are not in what was said"),
    "misquoted": _("its quotes are in other words than what was said"),
    "echo": _("it only repeats what was known already"),
    "not_own": _("the companion did not say this of itself"),
    "human_life": _("it tells of a human life, which no companion has"),
    "generalised": _("it generalises what was said once"),
    "invented": _("it tells more than was said"),
    # the roles in a prompt
    "user": _("user"),
    "assistant": _("companion"),
    "system": pgettext_lazy("who speaks", "system"),
    "tool": _("tool"),
}
# The statuses of a goal in the data that undoes a night's change.
STATUSES: dict[str, str | Promise] = {
    "new": _("new"),
    "under_way": _("under way"),
    "done": _("done"),
    "given_up": _("given up"),
}


def describe_code(code: str) -> str:
    """Return the code in words, in the active language; an unknown code with spaces for underscores."""
    return str(CODES.get(code) or code.replace("_", " "))


def describe_model(label: str) -> str:
    """Return the verbose name of the model with the label `app.Model`, or the label if there is no such model."""
    try:
        return str(apps.get_model(label)._meta.verbose_name)
    except LookupError:  # the model no longer exists
        return label


def describe_table(table: str) -> str:
    """Return the verbose name of the model of a database table, or the table's name if it has no model."""
    names = {model._meta.db_table: model._meta.verbose_name for model in apps.get_models()}
    return str(names.get(table, table))


def describe_status(value: str) -> str:
    """Return a changed value in words if it is the code of a status, otherwise unchanged."""
    return str(STATUSES.get(value, value))


def render_data(value: Any, describe: Describe = str, depth: int = 0) -> SafeString:
    """Return JSON as HTML: objects and lists nested, strings passed through `describe`, empty values as a dash."""
    if isinstance(value, dict) and value and depth < MAX_DEPTH:
        rows = (
            (describe_code(str(key)), render_data(part, describe, depth + 1)) for key, part in value.items()
        )
        inner = format_html_join("", "<div><dt>{}</dt><dd>{}</dd></div>", rows)
        return format_html('<dl class="kith-data">{}</dl>', inner)
    if isinstance(value, list) and value and depth < MAX_DEPTH:
        inner = format_html_join(
            "", "<li>{}</li>", ((render_data(part, describe, depth + 1),) for part in value)
        )
        return format_html('<ul class="kith-data">{}</ul>', inner)
    if isinstance(value, bool):
        return conditional_escape(gettext("Yes") if value else gettext("No"))
    if value in (None, "", [], {}):
        return conditional_escape("–")
    if isinstance(value, float):
        return conditional_escape(f"{value:.4g}")
    if isinstance(value, str):
        return conditional_escape(describe(value))
    return conditional_escape(value.isoformat() if isinstance(value, datetime) else str(value))


def link_to(model: str, pk: UUID | int | str | None, shown: str | None = None, *, opens: bool = True) -> str:
    """Return a link to an object's page with the text `shown`, otherwise the beginning of its id; a dash for None.

    If the operator may not open that page (`opens`), return the text only.
    """
    if pk is None:
        return "–"
    kind, text = "kith-link" if shown else "kith-id", shown or str(pk)[:8]
    if not opens:
        return text if shown else format_html('<span class="kith-id kith-soft">{}</span>', text)
    address = reverse(f"admin:{model.replace('.', '_').lower()}_change", args=[pk])
    return format_html('<a class="{}" href="{}">{}</a>', kind, address, text)
