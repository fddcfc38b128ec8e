"""Providers that operators keep in the database, in addition to those that the environment sets; and people's own."""

from decimal import Decimal
from typing import Any, Self
from urllib.parse import urlsplit

import httpx2
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from database.encryption import DecryptionError, decrypt, encrypt
from providers.downloads.models import Download, PinnedDigest  # noqa: F401 (Django looks for them here)
from providers.http.guarded_http import OutboundError, parse_address

MIN_CONTEXT_TOKENS, MAX_CONTEXT_TOKENS = 1024, 10_000_000
MIN_EMBEDDING_TOKENS, MAX_PREFIX = 128, 200
MAX_SLOTS, MAX_THREADS = 1000, 1024
SHOWN_CHARACTERS, MIN_SHOWN_OF = 4, 12  # of a key's end, shown if the key is long enough to stay secret

PRICE: Any = {
    "max_digits": 12,
    "decimal_places": 4,
    "null": True,
    "blank": True,
    "validators": [MinValueValidator(0)],
}

# Only what a header can hold: with a typographic quotation mark or a blank copied along, every request would fail.
validate_key = RegexValidator(r"\A[!-~]*\Z", _("A key has no blanks and only plain letters. Copy it again."))


def validate_address(address: str) -> None:
    """Raise ValidationError unless the address is an http(s) URL of a server, without a user, query or fragment."""
    try:
        parts = urlsplit(address)
        has_host = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        has_host = False
    if not has_host or parts.scheme not in {"http", "https"} or any(char.isspace() for char in address):
        raise ValidationError(
            _(
                "An address begins with http:// or https:// and names a host, such as http://127.0.0.1:11434/v1."
            )
        )
    try:
        httpx2.URL(address)
    except (httpx2.InvalidURL, UnicodeError) as error:
        raise ValidationError(_("The address has signs that no address has. Type it again.")) from error
    if parts.username is not None or parts.query or parts.fragment:
        raise ValidationError(_("An address ends with its path, such as /v1; a key has a field of its own."))


def validate_outside_address(address: str) -> None:
    """Raise ValidationError if a person's own provider may not have this address. The host is not resolved."""
    validate_address(address)
    try:
        parse_address(address, settings.OWN_PROVIDERS_ALLOWED)
    except OutboundError as error:
        raise ValidationError(
            _("The address must be on the public Internet, begin with https:// and have no port.")
        ) from error


def is_same_server(address: str, other: str) -> bool:
    """Return whether two addresses have the same scheme, host and port: a key is sent only where it was entered for."""
    first, second = urlsplit(address), urlsplit(other)
    return (first.scheme, first.netloc) == (second.scheme, second.netloc)


class KeyedModel(models.Model):
    """A row with an API key, which is encrypted in `sealed_key`; empty if the server needs none."""

    sealed_key = models.BinaryField(_("key, encrypted"), blank=True, default=b"", editable=False)

    class Meta:
        abstract = True

    @property
    def api_key(self) -> str:
        """Return the key. Raise DecryptionError if it was encrypted with another KITH_ENCRYPTION_KEY."""
        return decrypt(self.sealed_key).decode() if self.sealed_key else ""

    @api_key.setter
    def api_key(self, key: str) -> None:
        self.sealed_key = encrypt(key.encode()) if key else b""

    @property
    def key_end(self) -> str:
        """Return the key's last characters, by which people tell keys apart; empty if the key is too short for that."""
        key = self.api_key
        return key[-SHOWN_CHARACTERS:] if len(key) >= MIN_SHOWN_OF else ""

    def describe_key(self, nothing: str, lost: str) -> str:
        """Return a sentence that a key is set, with its end if that may be shown.

        Return `nothing` if there is no key, and `lost` if it cannot be decrypted.
        """
        if not self.sealed_key:
            return nothing
        try:
            end = self.key_end
        except DecryptionError:
            return lost
        if not end:
            return gettext("One is set. Leave this empty to keep it.")
        return gettext("One is set, ending in %(end)s. Leave this empty to keep it.") % {"end": end}


class Provider(KeyedModel):
    """A model on a server with OpenAI's API for chat, embeddings, speech or transcriptions; or a model file that Kith's
    own engine runs.

    For each capability the first active provider by `order` is asked, unless the environment sets one; see
    `providers.selection` and, for embedding, `providers.embedding.selection`. `last_error` is the kind of the last
    failure, never the server's words, which may quote what people said.
    """

    class Capability(models.TextChoices):
        CHAT = "chat", _("chat")
        BACKGROUND = "background", _("background work")
        EMBEDDING = "embedding", _("embedding")
        SPEECH = "speech", _("speech")
        TRANSCRIPTION = "transcription", _("transcription")

    class Failure(models.TextChoices):
        KEY = "key", _("The key was refused. Enter it again, or make a new one at the provider.")
        MONEY = "money", _("The account has no credit or quota left. Top it up at the provider.")
        MODEL = "model", _("The server does not know this model. Look up how the provider spells its name.")
        ADDRESS = (
            "address",
            _("Nothing at this address answers such requests. The address usually ends in /v1."),
        )
        REDIRECT = (
            "redirect",
            _(
                "The server redirects to another address, and keys are not sent there. Enter that address instead."
            ),
        )
        HTML = "html", _("The address returned a web page. The API's address usually ends in /v1.")
        LIMIT = (
            "limit",
            _("The server accepts no more requests right now. Wait, or raise the limit at the provider."),
        )
        CONTEXT = "context", _("The prompt was longer than the model's context. Enter its context tokens.")
        SILENT = (
            "silent",
            _("The server did not answer in time. It may still be loading the model: try again."),
        )
        UNREACHABLE = (
            "unreachable",
            _("The server cannot be reached. Check that it is running and that the address is right."),
        )
        BROKEN = "broken", _("The server failed. Its own log says why.")
        REFUSED = "refused", _("The server refused the request.")
        EMPTY = "empty", _("The model gave no answer, or one that cannot be read.")
        VECTORS = (
            "vectors",
            _(
                "The answer contains no vectors. The address usually ends in /v1, and the model must be one for"
                " embedding."
            ),
        )
        FORBIDDEN = (
            "forbidden",
            _("The address is not on the public Internet; no other addresses are allowed here."),
        )

    name = models.CharField(_("name"), max_length=80)
    capability = models.CharField(_("capability"), max_length=16, choices=Capability, default=Capability.CHAT)
    base_url = models.CharField(
        _("address"),
        max_length=200,
        blank=True,
        validators=[validate_address],
        help_text=_("OpenAI-compatible, usually ending in /v1, such as http://127.0.0.1:11434/v1"),
    )
    model = models.CharField(_("model"), max_length=200, help_text=_("The name that the server uses"))
    engine_file = models.CharField(
        _("file"),
        max_length=1000,
        blank=True,
        help_text=_(
            "A model file in GGUF format on this machine, which Kith runs itself; leave the address empty"
        ),
    )
    threads = models.PositiveIntegerField(
        _("threads"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_THREADS)],
        help_text=_("How many threads the engine uses. Empty: one fewer than there are cores"),
    )
    order = models.IntegerField(
        _("order"), default=0, help_text=_("The provider with the lowest number is used")
    )
    is_active = models.BooleanField(_("active"), default=True)
    context_tokens = models.PositiveIntegerField(
        _("context tokens"),
        null=True,
        blank=True,
        validators=[MinValueValidator(MIN_EMBEDDING_TOKENS), MaxValueValidator(MAX_CONTEXT_TOKENS)],
        help_text=_(
            "The size of the model's context. Empty: LLM_CONTEXT_TOKENS, or EMBEDDING_MAX_TOKENS for embedding"
        ),
    )
    query_prefix = models.CharField(
        _("query prefix"),
        max_length=MAX_PREFIX,
        blank=True,
        help_text=_(
            "For embedding: the prefix that the model expects before a query, including the space at its end"
        ),
    )
    document_prefix = models.CharField(
        _("document prefix"),
        max_length=MAX_PREFIX,
        blank=True,
        help_text=_("For embedding: the prefix that the model expects before a stored text"),
    )
    slots = models.PositiveIntegerField(
        _("requests at once"),
        null=True,
        blank=True,
        validators=[MaxValueValidator(MAX_SLOTS)],
        help_text=_(
            "How many requests it answers at once. 0: any number. Empty: 1 if it is on this machine or in its network"
        ),
    )
    requests_per_minute = models.PositiveIntegerField(
        _("requests per minute"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text=_("Empty: no limit"),
    )
    tokens_per_day = models.PositiveBigIntegerField(
        _("tokens per day"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text=_("Sent and received, from midnight to midnight in UTC. Empty: no limit"),
    )
    prompt_price = models.DecimalField(
        _("price per million tokens sent"), **PRICE, help_text=_("In the provider's currency")
    )
    completion_price = models.DecimalField(_("price per million tokens received"), **PRICE)
    last_error = models.CharField(_("last error"), max_length=16, choices=Failure, blank=True)
    last_error_at = models.DateTimeField(_("last failure"), null=True, blank=True)

    objects: Any = models.Manager()

    class Meta:
        verbose_name = _("provider")
        verbose_name_plural = _("providers")
        ordering = ["capability", "order", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["capability", "base_url", "model", "query_prefix", "document_prefix"],
                name="provider_once",
                violation_error_message=_("There is a provider with this address and model already."),
            ),
            models.CheckConstraint(
                condition=models.Q(base_url="") ^ models.Q(engine_file=""),
                name="provider_has_a_server_or_a_file",
                violation_error_message=_("A provider has an address, or a file, and not both."),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Raise ValidationError if a model that is not for embedding has fewer than MIN_CONTEXT_TOKENS of context."""
        if not self.is_embedder and self.context_tokens and self.context_tokens < MIN_CONTEXT_TOKENS:
            least = _("At least %(tokens)s, but for embedding.") % {"tokens": MIN_CONTEXT_TOKENS}
            raise ValidationError({"context_tokens": least})

    @property
    def is_embedder(self) -> bool:
        return self.capability == self.Capability.EMBEDDING

    def compute_cost(self, sent: int, received: int) -> Decimal | None:
        """Return what the tokens cost, in the currency of the prices, or None if no price is given."""
        if self.prompt_price is None and self.completion_price is None:
            return None
        price = sent * (self.prompt_price or Decimal()) + received * (self.completion_price or Decimal())
        return Decimal(price / 1_000_000)


class OwnProviderQuerySet(models.QuerySet["OwnProvider"]):
    def owned_by(self, user: Any) -> Self:
        """Return the person's own providers; `user` is a User or its id."""
        return self.filter(user=user)


class OwnProvider(KeyedModel):
    """A person's own model, on a server with OpenAI's API for chat completions.

    It answers for the person's companions that are set to a model of its name, and for nobody else's. It is asked
    through the guard of `providers.http.guarded_client`.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="own_providers")
    name = models.CharField(_("name"), max_length=80)
    base_url = models.CharField(
        _("address"),
        max_length=200,
        validators=[validate_outside_address],
        help_text=_("OpenAI-compatible, usually ending in /v1, such as https://api.example.com/v1"),
    )
    model = models.CharField(_("model"), max_length=200, help_text=_("The name that the server uses"))
    context_tokens = models.PositiveIntegerField(
        _("context tokens"),
        null=True,
        blank=True,
        validators=[MinValueValidator(MIN_CONTEXT_TOKENS), MaxValueValidator(MAX_CONTEXT_TOKENS)],
        help_text=_("The size of the model's context. Empty: the default of this Kith"),
    )
    last_error = models.CharField(
        _("last error"), max_length=16, choices=Provider.Failure, blank=True, editable=False
    )
    last_error_at = models.DateTimeField(_("last failure"), null=True, blank=True, editable=False)

    objects = OwnProviderQuerySet.as_manager()

    class Meta:
        verbose_name = _("own provider")
        verbose_name_plural = _("own providers")
        ordering = ["name", "pk"]
        constraints = [models.UniqueConstraint(fields=["user", "model"], name="own_provider_once")]

    def __str__(self) -> str:
        return f"own provider {self.pk}"
