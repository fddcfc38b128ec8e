import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import accounts.models.invitation


class Migration(migrations.Migration):
    replaces = [("accounts", "0001_initial"), ("accounts", "0002_calls_of_companions")]

    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="User",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "is_staff",
                    models.BooleanField(
                        default=False,
                        help_text="Designates whether the user can log into this admin site.",
                        verbose_name="staff status",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                (
                    "date_joined",
                    models.DateTimeField(default=django.utils.timezone.now, verbose_name="date joined"),
                ),
                ("email", models.EmailField(max_length=254, verbose_name="e-mail address")),
                (
                    "name",
                    models.CharField(blank=True, max_length=80, verbose_name="what companions call you"),
                ),
                ("time_zone", models.CharField(default="UTC", max_length=64, verbose_name="time zone")),
                ("language", models.CharField(blank=True, max_length=16, verbose_name="language")),
                (
                    "messages_per_minute",
                    models.PositiveIntegerField(
                        blank=True, help_text="Empty: the setting KITH_MESSAGES_PER_MINUTE.", null=True
                    ),
                ),
                (
                    "tokens_per_day",
                    models.PositiveBigIntegerField(
                        blank=True, help_text="Empty: the setting KITH_TOKENS_PER_DAY.", null=True
                    ),
                ),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "constraints": [
                    models.UniqueConstraint(
                        django.db.models.functions.text.Lower("email"), name="user_email_unique"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Token",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=80, verbose_name="name")),
                ("prefix", models.CharField(max_length=12, verbose_name="begins with")),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("last_used_at", models.DateTimeField(blank=True, null=True, verbose_name="last used")),
                ("revoked_at", models.DateTimeField(blank=True, null=True, verbose_name="revoked")),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tokens",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="user",
                    ),
                ),
            ],
            options={
                "verbose_name": "token",
                "verbose_name_plural": "tokens",
                "ordering": ["-created_at"],
            },
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "code",
                    models.CharField(
                        default=accounts.models.invitation.new_code,
                        editable=False,
                        max_length=32,
                        unique=True,
                        verbose_name="code",
                    ),
                ),
                ("note", models.CharField(blank=True, max_length=200, verbose_name="for whom")),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("used_at", models.DateTimeField(blank=True, editable=False, null=True, verbose_name="used")),
                (
                    "created_by",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "used_by",
                    models.OneToOneField(
                        blank=True,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "invitation",
                "verbose_name_plural": "invitations",
                "ordering": ["-created_at"],
            },
        ),
        migrations.CreateModel(
            name="IdempotencyKey",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("operation", models.CharField(max_length=80)),
                ("key", models.CharField(max_length=200)),
                ("digest", models.CharField(max_length=64)),
                ("made_id", models.UUIDField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("user", "operation", "key"), name="idempotency_key_unique"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ModelCall",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "purpose",
                    models.CharField(
                        choices=[
                            ("answer", "answer"),
                            ("embedding", "embedding"),
                            ("learning", "summary and learning"),
                            ("closing", "end of a session"),
                            ("gists", "gists of pages"),
                            ("consolidation", "consolidation"),
                            ("reflection", "reflection"),
                            ("waking", "waking"),
                            ("comparison", "comparison of models"),
                            ("trial", "try-out of a character"),
                            ("check", "check before sending"),
                        ],
                        max_length=16,
                        verbose_name="purpose",
                    ),
                ),
                ("provider", models.CharField(max_length=200, verbose_name="provider")),
                ("model", models.CharField(max_length=200, verbose_name="model")),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("running", "running"),
                            ("done", "done"),
                            ("stopped", "stopped"),
                            ("interrupted", "interrupted"),
                            ("unavailable", "not reached"),
                            ("refused", "refused"),
                        ],
                        default="running",
                        max_length=16,
                        verbose_name="outcome",
                    ),
                ),
                ("prompt_tokens", models.PositiveIntegerField(default=0, verbose_name="tokens sent")),
                ("completion_tokens", models.PositiveIntegerField(default=0, verbose_name="tokens received")),
                (
                    "cached_tokens",
                    models.PositiveIntegerField(default=0, verbose_name="tokens from the cache"),
                ),
                ("is_estimated", models.BooleanField(default=False, verbose_name="tokens estimated")),
                (
                    "first_piece_milliseconds",
                    models.PositiveIntegerField(null=True, verbose_name="first piece after (ms)"),
                ),
                ("milliseconds", models.PositiveIntegerField(null=True, verbose_name="duration (ms)")),
                ("said", models.TextField(blank=True, verbose_name="the provider's message")),
                ("started_at", models.DateTimeField(verbose_name="started")),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="model_calls",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="user",
                    ),
                ),
            ],
            options={
                "verbose_name": "model call",
                "verbose_name_plural": "model calls",
                "ordering": ["-started_at"],
                "indexes": [models.Index(fields=["user", "started_at"], name="model_call_user_day")],
            },
        ),
        migrations.CreateModel(
            name="SoundCall",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "capability",
                    models.CharField(
                        choices=[("speech", "speech"), ("transcription", "transcription")],
                        max_length=16,
                        verbose_name="capability",
                    ),
                ),
                ("provider", models.CharField(max_length=200, verbose_name="provider")),
                ("model", models.CharField(blank=True, max_length=200, verbose_name="model")),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("done", "done"),
                            ("stopped", "stopped"),
                            ("unavailable", "not reached"),
                            ("refused", "refused"),
                        ],
                        max_length=16,
                        verbose_name="outcome",
                    ),
                ),
                ("characters", models.PositiveIntegerField(default=0, verbose_name="characters")),
                ("seconds", models.FloatField(default=0.0, verbose_name="seconds of audio")),
                ("milliseconds", models.PositiveIntegerField(verbose_name="duration (ms)")),
                ("said", models.TextField(blank=True, verbose_name="the provider's message")),
                ("started_at", models.DateTimeField(verbose_name="started")),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sound_calls",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="user",
                    ),
                ),
            ],
            options={
                "verbose_name": "sound call",
                "verbose_name_plural": "sound calls",
                "ordering": ["-started_at"],
                "indexes": [models.Index(fields=["user", "started_at"], name="sound_call_user_day")],
            },
        ),
    ]
