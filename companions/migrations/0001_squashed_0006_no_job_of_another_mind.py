import datetime
import uuid

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("companions", "0001_initial"),
        ("companions", "0002_recall_policy"),
        ("companions", "0003_sessions_close"),
        ("companions", "0004_closing_until_and_digest_tries"),
        ("companions", "0005_fsrs_among_policies"),
        ("companions", "0006_no_job_of_another_mind"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0001_squashed_0002_calls_of_companions"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Companion",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("name", models.CharField(max_length=80, verbose_name="name")),
                ("persona", models.TextField(blank=True, max_length=40000, verbose_name="persona")),
                ("greeting", models.TextField(blank=True, max_length=12000, verbose_name="greeting")),
                (
                    "tint",
                    models.PositiveSmallIntegerField(
                        default=40,
                        validators=[django.core.validators.MaxValueValidator(359)],
                        verbose_name="tint",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "recall_policy",
                    models.CharField(
                        choices=[
                            (
                                "kith",
                                "Kith: what fits best, favouring recent, emotional and important memories a little",
                            ),
                            ("likeness", "Similarity: the closest in meaning, whatever its age"),
                            ("digital_life", "DigitalLife: the few that are clearly similar, or none"),
                            ("airi_chat", "AIRI chat: what is similar, favouring its first month a little"),
                            (
                                "airi_decay",
                                "AIRI decay: half is gone in a week; recalls and emotions slow this down",
                            ),
                            ("memory_bank", "MemoryBank: gone in days; each recall makes it last longer"),
                            ("hou", "Hou: what is recalled at growing intervals lasts"),
                            (
                                "fsrs",
                                "FSRS: as with flash cards, a recall just before forgetting strengthens most",
                            ),
                            (
                                "generative_agents",
                                "Generative agents: similarity, recency and importance count equally",
                            ),
                        ],
                        default="kith",
                        max_length=32,
                        verbose_name="what comes to mind",
                    ),
                ),
                (
                    "idle_hours",
                    models.PositiveSmallIntegerField(
                        default=8,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(720),
                        ],
                        verbose_name="hours of silence that end a session",
                    ),
                ),
                (
                    "recall_parameters",
                    models.JSONField(blank=True, default=dict, verbose_name="parameters of the policy"),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="companions",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="user",
                    ),
                ),
            ],
            options={
                "verbose_name": "companion",
                "verbose_name_plural": "companions",
                "ordering": ["-created_at"],
                "indexes": [models.Index(fields=["user", "-created_at"], name="companion_user_time")],
            },
        ),
        migrations.CreateModel(
            name="Life",
            fields=[
                (
                    "companion",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="life",
                        serialize=False,
                        to="companions.companion",
                    ),
                ),
                (
                    "is_awake",
                    models.BooleanField(default=True, verbose_name="has a life between conversations"),
                ),
                ("reaches_out", models.BooleanField(default=False, verbose_name="may write first")),
                ("is_muted", models.BooleanField(default=False, verbose_name="muted")),
                (
                    "most_a_day",
                    models.PositiveSmallIntegerField(
                        default=2,
                        validators=[django.core.validators.MaxValueValidator(10)],
                        verbose_name="maximum messages per day",
                    ),
                ),
                ("quiet_from", models.TimeField(default=datetime.time(22, 0), verbose_name="quiet from")),
                ("quiet_until", models.TimeField(default=datetime.time(8, 0), verbose_name="quiet until")),
                ("sleeps_from", models.TimeField(default=datetime.time(23, 30), verbose_name="sleeps from")),
                ("sleeps_until", models.TimeField(default=datetime.time(7, 0), verbose_name="sleeps until")),
                ("by_email", models.BooleanField(default=False, verbose_name="by e-mail")),
                ("by_push", models.BooleanField(default=True, verbose_name="by notification")),
                (
                    "drives_at",
                    models.DateTimeField(blank=True, null=True, verbose_name="next check for drives"),
                ),
                ("reflect_at", models.DateTimeField(blank=True, null=True, verbose_name="next reflection")),
                (
                    "reflect_attempts",
                    models.PositiveSmallIntegerField(default=0, verbose_name="failed reflections"),
                ),
            ],
            options={
                "verbose_name": "life",
                "verbose_name_plural": "lives",
                "indexes": [
                    models.Index(
                        condition=models.Q(("is_awake", True)), fields=["drives_at"], name="life_drives_due"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Portrait",
            fields=[
                (
                    "companion",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="portrait",
                        serialize=False,
                        to="companions.companion",
                    ),
                ),
                ("seed", models.PositiveBigIntegerField(verbose_name="seed")),
                ("chosen", models.JSONField(blank=True, default=dict, verbose_name="chosen")),
            ],
            options={
                "verbose_name": "portrait",
                "verbose_name_plural": "portraits",
            },
        ),
        migrations.CreateModel(
            name="Conversation",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "read_until",
                    models.DateTimeField(default=django.utils.timezone.now, verbose_name="read until"),
                ),
                (
                    "companion",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="conversation",
                        to="companions.companion",
                    ),
                ),
            ],
            options={
                "verbose_name": "conversation",
                "verbose_name_plural": "conversations",
            },
        ),
        migrations.CreateModel(
            name="Job",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("import_log", "import of a log"),
                            ("import_past", "import of a past"),
                            ("close", "closing of a session"),
                        ],
                        max_length=16,
                        verbose_name="kind",
                    ),
                ),
                ("total", models.PositiveIntegerField(default=0, verbose_name="total")),
                ("error", models.TextField(blank=True, verbose_name="error")),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="requested")),
                (
                    "companion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="jobs",
                        to="companions.companion",
                    ),
                ),
            ],
            options={
                "verbose_name": "job",
                "verbose_name_plural": "jobs",
                "ordering": ["-created_at"],
            },
        ),
        migrations.CreateModel(
            name="Session",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("started_at", models.DateTimeField(verbose_name="started")),
                ("ended_at", models.DateTimeField(blank=True, null=True, verbose_name="ended")),
                ("pressure", models.FloatField(default=0.0, verbose_name="pressure on the context")),
                ("scratch", models.TextField(blank=True, max_length=4000, verbose_name="scratch")),
                (
                    "summarised_until",
                    models.DateTimeField(blank=True, null=True, verbose_name="summarised until"),
                ),
                ("summary", models.TextField(blank=True, verbose_name="summary")),
                ("title", models.CharField(blank=True, max_length=200, verbose_name="title")),
                (
                    "unsent",
                    models.PositiveIntegerField(default=0, verbose_name="messages left out of prompts"),
                ),
                ("digest_at", models.DateTimeField(blank=True, null=True, verbose_name="next digest")),
                (
                    "digest_attempts",
                    models.PositiveSmallIntegerField(default=0, verbose_name="failed digests"),
                ),
                (
                    "companion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sessions",
                        to="companions.companion",
                    ),
                ),
                (
                    "conversation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sessions",
                        to="companions.conversation",
                    ),
                ),
            ],
            options={
                "verbose_name": "session",
                "verbose_name_plural": "sessions",
                "ordering": ["-started_at"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at", None)),
                        fields=("conversation",),
                        name="session_one_open",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[("user", "user"), ("assistant", "companion"), ("system", "system")],
                        max_length=16,
                        verbose_name="role",
                    ),
                ),
                ("author", models.CharField(blank=True, max_length=80, verbose_name="author")),
                ("text", models.TextField(verbose_name="text")),
                (
                    "client_id",
                    models.CharField(blank=True, max_length=200, null=True, verbose_name="client's id"),
                ),
                ("said_at", models.DateTimeField(verbose_name="said")),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="stored")),
                ("is_hidden", models.BooleanField(default=False, verbose_name="hidden from prompts")),
                (
                    "is_rehearsed",
                    models.BooleanField(default=False, verbose_name="written by the rehearsal model"),
                ),
                ("is_learnt", models.BooleanField(default=False, verbose_name="learnt from")),
                (
                    "companion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="messages",
                        to="companions.companion",
                    ),
                ),
                (
                    "conversation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="messages",
                        to="companions.conversation",
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="messages",
                        to="companions.job",
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="children",
                        to="companions.message",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="messages",
                        to="companions.session",
                    ),
                ),
            ],
            options={
                "verbose_name": "message",
                "verbose_name_plural": "messages",
                "ordering": ["-said_at", "-id"],
                "indexes": [
                    models.Index(fields=["companion", "-said_at", "-id"], name="message_companion_time"),
                    models.Index(fields=["companion", "-created_at"], name="message_companion_stored"),
                    models.Index(fields=["session", "said_at", "id"], name="message_session_time"),
                    models.Index(
                        condition=models.Q(("is_learnt", False)),
                        fields=["session"],
                        name="message_not_learnt",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("companion", "client_id"), name="message_client_id_unique"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Timer",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("schedule", models.CharField(max_length=120, verbose_name="schedule")),
                ("name", models.CharField(blank=True, max_length=40, verbose_name="predefined as")),
                ("note", models.TextField(blank=True, max_length=1000, verbose_name="purpose")),
                (
                    "by",
                    models.CharField(
                        choices=[
                            ("companion", "companion"),
                            ("user", "user"),
                            ("operator", "operator"),
                            ("kith", "Kith"),
                        ],
                        max_length=16,
                        verbose_name="set by",
                    ),
                ),
                ("is_asked_for", models.BooleanField(default=False, verbose_name="requested")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("active", "active"),
                            ("ended", "ended"),
                            ("cancelled", "cancelled"),
                            ("set_aside", "set aside"),
                        ],
                        default="active",
                        max_length=16,
                        verbose_name="state",
                    ),
                ),
                ("due_at", models.DateTimeField(blank=True, null=True, verbose_name="next due")),
                ("look_at", models.DateTimeField(blank=True, null=True, verbose_name="next check")),
                ("attempts", models.PositiveSmallIntegerField(default=0, verbose_name="failed attempts")),
                ("error", models.CharField(blank=True, max_length=40, verbose_name="error")),
                ("created_at", models.DateTimeField(verbose_name="created")),
                ("ended_at", models.DateTimeField(blank=True, null=True, verbose_name="ended")),
                (
                    "companion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="timers",
                        to="companions.companion",
                    ),
                ),
                (
                    "message",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="timers",
                        to="companions.message",
                        verbose_name="set in answer to",
                    ),
                ),
            ],
            options={
                "verbose_name": "timer",
                "verbose_name_plural": "timers",
                "ordering": ["-created_at"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "active")), fields=["look_at"], name="timer_look"
                    ),
                    models.Index(fields=["companion", "due_at"], name="timer_companion_due"),
                    models.Index(
                        condition=models.Q(("state", "set_aside")),
                        fields=["created_at"],
                        name="timer_set_aside",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("name", ""), _negated=True),
                        fields=("companion", "name"),
                        name="timer_predefined_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "active"), _negated=True),
                            models.Q(("due_at__isnull", False), ("look_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="timer_active_is_due",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Waking",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                (
                    "origin",
                    models.CharField(
                        choices=[("timer", "timer"), ("forced", "fired by hand"), ("drive", "drive")],
                        max_length=16,
                        verbose_name="origin",
                    ),
                ),
                ("due_at", models.DateTimeField(verbose_name="due")),
                ("missed", models.PositiveIntegerField(default=0, verbose_name="due times missed before")),
                ("missed_since", models.DateTimeField(blank=True, null=True, verbose_name="missed since")),
                ("drive", models.CharField(blank=True, max_length=24, verbose_name="drive")),
                ("drive_key", models.CharField(blank=True, max_length=120, verbose_name="drive's occasion")),
                ("note", models.TextField(blank=True, max_length=1000, verbose_name="purpose")),
                ("is_asked_for", models.BooleanField(default=False, verbose_name="requested")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting"),
                            ("done", "done"),
                            ("skipped", "skipped"),
                            ("failed", "failed"),
                        ],
                        default="waiting",
                        max_length=16,
                        verbose_name="state",
                    ),
                ),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("spoke", "spoke"),
                            ("silent", "stayed silent"),
                            ("held", "held back"),
                            ("reminded", "Kith reminded"),
                        ],
                        max_length=16,
                        verbose_name="outcome",
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=40, verbose_name="reason")),
                ("thought", models.TextField(blank=True, verbose_name="thought")),
                ("text", models.TextField(blank=True, verbose_name="wanted to say")),
                ("steps", models.JSONField(blank=True, default=list, verbose_name="steps")),
                ("prompt", models.JSONField(blank=True, default=list, verbose_name="prompt as sent")),
                (
                    "shown",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(),
                        blank=True,
                        default=list,
                        size=None,
                        verbose_name="shown in the prompt",
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0, verbose_name="failed attempts")),
                ("look_at", models.DateTimeField(blank=True, null=True, verbose_name="next check")),
                ("created_at", models.DateTimeField(verbose_name="created")),
                ("started_at", models.DateTimeField(blank=True, null=True, verbose_name="started")),
                ("ended_at", models.DateTimeField(blank=True, null=True, verbose_name="ended")),
                (
                    "is_rehearsed",
                    models.BooleanField(default=False, verbose_name="written by the rehearsal model"),
                ),
                ("emotions", models.JSONField(blank=True, default=list, verbose_name="emotions")),
                (
                    "companion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="wakings",
                        to="companions.companion",
                    ),
                ),
                (
                    "timer",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="wakings",
                        to="companions.timer",
                    ),
                ),
            ],
            options={
                "verbose_name": "waking",
                "verbose_name_plural": "wakings",
                "ordering": ["-due_at", "-id"],
                "indexes": [
                    models.Index(fields=["companion", "-due_at", "-id"], name="waking_companion_time"),
                    models.Index(
                        condition=models.Q(("state", "waiting")), fields=["look_at"], name="waking_look"
                    ),
                    models.Index(
                        condition=models.Q(("state", "failed")), fields=["due_at"], name="waking_failed"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("timer", "due_at"), name="waking_once_a_due_time"),
                    models.UniqueConstraint(
                        condition=models.Q(("drive_key", ""), _negated=True),
                        fields=("companion", "drive_key"),
                        name="waking_once_an_occasion",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Reply",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "queued"),
                            ("thinking", "thinking"),
                            ("streaming", "streaming"),
                            ("done", "done"),
                            ("stopped", "stopped"),
                            ("interrupted", "interrupted"),
                            ("failed", "failed"),
                        ],
                        default="queued",
                        max_length=16,
                        verbose_name="state",
                    ),
                ),
                ("text", models.TextField(blank=True, verbose_name="text so far")),
                ("thought", models.TextField(blank=True, verbose_name="reasoning")),
                ("seq", models.PositiveIntegerField(default=0, verbose_name="pieces saved")),
                ("tool_calls", models.JSONField(blank=True, default=list, verbose_name="tool calls")),
                ("is_stop_asked", models.BooleanField(default=False, verbose_name="stop requested")),
                ("lease_by", models.CharField(blank=True, max_length=80, verbose_name="made by process")),
                ("lease_at", models.DateTimeField(blank=True, null=True, verbose_name="lease renewed")),
                ("code", models.CharField(blank=True, max_length=40, verbose_name="error")),
                (
                    "template",
                    models.CharField(blank=True, max_length=20, verbose_name="version of the prompts"),
                ),
                ("created_at", models.DateTimeField(verbose_name="requested")),
                ("started_at", models.DateTimeField(blank=True, null=True, verbose_name="started")),
                ("first_piece_at", models.DateTimeField(blank=True, null=True, verbose_name="first piece")),
                ("ended_at", models.DateTimeField(blank=True, null=True, verbose_name="ended")),
                ("emotions", models.JSONField(blank=True, default=list, verbose_name="emotions")),
                (
                    "answer",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="made_by",
                        to="companions.message",
                        verbose_name="answer",
                    ),
                ),
                (
                    "companion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="replies",
                        to="companions.companion",
                    ),
                ),
                (
                    "continues",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="continued_by",
                        to="companions.reply",
                    ),
                ),
                (
                    "message",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="replies",
                        to="companions.message",
                        verbose_name="answers",
                    ),
                ),
            ],
            options={
                "verbose_name": "reply",
                "verbose_name_plural": "replies",
                "ordering": ["-created_at"],
                "indexes": [
                    models.Index(fields=["companion", "-created_at"], name="reply_companion_time"),
                    models.Index(
                        condition=models.Q(("state__in", ["queued", "thinking", "streaming"])),
                        fields=["lease_at"],
                        name="reply_open_lease",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["thinking", "streaming"])),
                        fields=("companion",),
                        name="reply_one_at_a_time",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Prompt",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("round", models.PositiveSmallIntegerField(default=1, verbose_name="round")),
                ("messages", models.JSONField(verbose_name="messages")),
                ("tools", models.JSONField(default=list, verbose_name="tools")),
                (
                    "shown",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), default=list, size=None
                    ),
                ),
                ("created_at", models.DateTimeField(verbose_name="sent")),
                (
                    "companion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="prompts",
                        to="companions.companion",
                    ),
                ),
                (
                    "reply",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="prompts",
                        to="companions.reply",
                    ),
                ),
            ],
            options={
                "verbose_name": "prompt",
                "verbose_name_plural": "prompts",
                "ordering": ["reply", "round"],
                "indexes": [
                    django.contrib.postgres.indexes.GinIndex(fields=["shown"], name="prompt_shown"),
                    models.Index(fields=["created_at"], name="prompt_age"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("reply", "round"), name="prompt_round_unique")
                ],
            },
        ),
        migrations.CreateModel(
            name="InnerState",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("number", models.PositiveIntegerField(verbose_name="number")),
                ("text", models.TextField(max_length=4000, verbose_name="in its own words")),
                (
                    "valence",
                    models.FloatField(
                        default=0.0,
                        validators=[
                            django.core.validators.MinValueValidator(-1.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                        verbose_name="valence",
                    ),
                ),
                (
                    "arousal",
                    models.FloatField(
                        default=0.0,
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                        verbose_name="arousal",
                    ),
                ),
                (
                    "emotion",
                    models.CharField(
                        choices=[
                            ("neutral", "neutral"),
                            ("happy", "happy"),
                            ("sad", "sad"),
                            ("angry", "angry"),
                            ("think", "thoughtful"),
                            ("surprised", "surprised"),
                            ("awkward", "awkward"),
                            ("question", "puzzled"),
                            ("curious", "curious"),
                        ],
                        default="neutral",
                        max_length=16,
                        verbose_name="emotion",
                    ),
                ),
                (
                    "intensity",
                    models.FloatField(
                        default=0.0,
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                        verbose_name="intensity",
                    ),
                ),
                (
                    "by",
                    models.CharField(
                        choices=[
                            ("seed", "first state"),
                            ("reflection", "reflection"),
                            ("closing", "end of a session"),
                            ("waking", "waking"),
                            ("user", "user"),
                            ("operator", "operator"),
                            ("import", "import"),
                        ],
                        max_length=16,
                        verbose_name="made by",
                    ),
                ),
                (
                    "seen",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(),
                        blank=True,
                        default=list,
                        size=None,
                        verbose_name="derived from",
                    ),
                ),
                (
                    "until_at",
                    models.DateTimeField(blank=True, null=True, verbose_name="covers messages until"),
                ),
                ("made_at", models.DateTimeField(verbose_name="created")),
                (
                    "is_rehearsed",
                    models.BooleanField(default=False, verbose_name="written by the rehearsal model"),
                ),
                (
                    "call",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="accounts.modelcall",
                    ),
                ),
                (
                    "companion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="inner_states",
                        to="companions.companion",
                    ),
                ),
                (
                    "waking",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="inner_states",
                        to="companions.waking",
                    ),
                ),
            ],
            options={
                "verbose_name": "inner state",
                "verbose_name_plural": "inner states",
                "ordering": ["-made_at", "-number"],
                "constraints": [
                    models.UniqueConstraint(fields=("companion", "number"), name="inner_state_number_unique"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("arousal__range", (0, 1)),
                            ("intensity__range", (0, 1)),
                            ("valence__range", (-1, 1)),
                        ),
                        name="inner_state_within_bounds",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Closing",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("is_forgetful", models.BooleanField(default=False, verbose_name="without remembering")),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waiting"), ("done", "done"), ("failed", "failed")],
                        default="waiting",
                        max_length=16,
                        verbose_name="state",
                    ),
                ),
                ("drafts", models.JSONField(blank=True, default=dict, verbose_name="drafts")),
                ("seen", models.JSONField(blank=True, default=list, verbose_name="drafted from")),
                ("attempts", models.PositiveSmallIntegerField(default=0, verbose_name="failed attempts")),
                ("next_at", models.DateTimeField(verbose_name="next attempt")),
                ("error", models.CharField(blank=True, max_length=40, verbose_name="error")),
                ("asked_at", models.DateTimeField(verbose_name="requested")),
                ("ended_at", models.DateTimeField(blank=True, null=True, verbose_name="ended")),
                ("until_at", models.DateTimeField(verbose_name="closes messages until")),
                (
                    "companion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="closings",
                        to="companions.companion",
                    ),
                ),
                (
                    "job",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="closing",
                        to="companions.job",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="closings",
                        to="companions.session",
                    ),
                ),
            ],
            options={
                "verbose_name": "closing",
                "verbose_name_plural": "closings",
                "ordering": ["-asked_at"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "waiting")), fields=["next_at"], name="closing_due"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "waiting")),
                        fields=("session",),
                        name="closing_one_at_a_time",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("channel", models.CharField(max_length=16, verbose_name="channel")),
                ("destination", models.CharField(blank=True, max_length=64, verbose_name="address")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "waiting"),
                            ("attempted", "attempted"),
                            ("sent", "sent"),
                            ("failed", "failed"),
                            ("dropped", "no longer needed"),
                        ],
                        default="waiting",
                        max_length=16,
                        verbose_name="state",
                    ),
                ),
                ("due_at", models.DateTimeField(verbose_name="due")),
                ("attempted_at", models.DateTimeField(blank=True, null=True, verbose_name="attempted")),
                ("ended_at", models.DateTimeField(blank=True, null=True, verbose_name="ended")),
                ("error", models.CharField(blank=True, max_length=40, verbose_name="error")),
                (
                    "companion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="companions.companion",
                    ),
                ),
                (
                    "message",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="companions.message",
                    ),
                ),
            ],
            options={
                "verbose_name": "delivery",
                "verbose_name_plural": "deliveries",
                "ordering": ["-due_at"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "waiting")), fields=["due_at"], name="delivery_due"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("message", "channel", "destination"), name="delivery_once_an_address"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Picture",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "emotion",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("neutral", "neutral"),
                            ("happy", "happy"),
                            ("sad", "sad"),
                            ("angry", "angry"),
                            ("think", "thoughtful"),
                            ("surprised", "surprised"),
                            ("awkward", "awkward"),
                            ("question", "puzzled"),
                            ("curious", "curious"),
                        ],
                        max_length=16,
                        verbose_name="emotion",
                    ),
                ),
                (
                    "companion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pictures",
                        to="companions.companion",
                    ),
                ),
            ],
            options={
                "verbose_name": "picture",
                "verbose_name_plural": "pictures",
                "constraints": [
                    models.UniqueConstraint(fields=("companion", "emotion"), name="picture_once_an_emotion")
                ],
            },
        ),
        migrations.AddField(
            model_name="conversation",
            name="head",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="companions.message",
            ),
        ),
        migrations.AddField(
            model_name="timer",
            name="waking",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="timers_set",
                to="companions.waking",
                verbose_name="set in waking",
            ),
        ),
        migrations.AddField(
            model_name="session",
            name="waking",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="pages",
                to="companions.waking",
                verbose_name="waking that wrote this page",
            ),
        ),
        migrations.AddField(
            model_name="message",
            name="waking",
            field=models.OneToOneField(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="message",
                to="companions.waking",
                verbose_name="said in the waking",
            ),
        ),
    ]
