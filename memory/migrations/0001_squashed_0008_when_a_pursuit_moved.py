import uuid

import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import django.db.models.lookups
import pgvector.django.extensions
import pgvector.django.vector
from django.db import migrations, models

import memory.models.embedding


class Migration(migrations.Migration):
    replaces = [
        ("memory", "0001_initial"),
        ("memory", "0002_what_recall_weighs"),
        ("memory", "0003_spaces_side_by_side"),
        ("memory", "0004_what_is_learnt"),
        ("memory", "0005_changes_can_be_settled"),
        ("memory", "0006_when_a_night_was_asked_for"),
        ("memory", "0007_stale_diary_is_written_anew"),
        ("memory", "0008_when_a_pursuit_moved"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0001_squashed_0002_calls_of_companions"),
        ("companions", "0001_squashed_0006_no_job_of_another_mind"),
    ]

    operations = [
        pgvector.django.extensions.VectorExtension(),
        migrations.CreateModel(
            name="Consolidation",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("night_of", models.DateField(verbose_name="night of")),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waiting"), ("done", "done"), ("failed", "failed")],
                        default="waiting",
                        max_length=16,
                        verbose_name="state",
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0, verbose_name="failed attempts")),
                ("next_at", models.DateTimeField(verbose_name="next attempt")),
                ("error", models.CharField(blank=True, max_length=40, verbose_name="error")),
                ("ended_at", models.DateTimeField(blank=True, null=True, verbose_name="ended")),
                ("asked_at", models.DateTimeField(verbose_name="requested")),
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
                        related_name="consolidations",
                        to="companions.companion",
                    ),
                ),
            ],
            options={
                "verbose_name": "consolidation",
                "verbose_name_plural": "consolidations",
                "ordering": ["-night_of"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "waiting")), fields=["next_at"], name="consolidation_due"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("companion", "night_of"), name="consolidation_once_a_night"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Document",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("title", models.CharField(max_length=200, verbose_name="title")),
                ("characters", models.PositiveIntegerField(verbose_name="characters")),
                ("error", models.CharField(blank=True, max_length=40, verbose_name="error")),
                ("attempts", models.PositiveSmallIntegerField(default=0, verbose_name="failed attempts")),
                ("next_at", models.DateTimeField(blank=True, null=True, verbose_name="next attempt")),
                ("given_at", models.DateTimeField(verbose_name="uploaded")),
                (
                    "companion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="documents",
                        to="companions.companion",
                    ),
                ),
            ],
            options={
                "verbose_name": "document",
                "verbose_name_plural": "documents",
                "ordering": ["-given_at"],
                "indexes": [
                    models.Index(fields=["companion", "-given_at"], name="document_companion_time"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Learning",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("messages", models.PositiveIntegerField(verbose_name="messages")),
                ("verdicts", models.JSONField(default=list, verbose_name="verdicts")),
                ("at", models.DateTimeField(verbose_name="when")),
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
                        related_name="learnings",
                        to="companions.companion",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="learnings",
                        to="companions.session",
                    ),
                ),
            ],
            options={
                "verbose_name": "learning",
                "verbose_name_plural": "learnings",
                "ordering": ["-at"],
                "indexes": [
                    models.Index(fields=["companion", "-at"], name="learning_companion_time"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Memory",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("said", "said"),
                            ("fact", "fact"),
                            ("preference", "preference"),
                            ("event", "event"),
                            ("promise", "promise"),
                            ("relationship", "relationship"),
                            ("goal", "goal"),
                            ("idea", "idea"),
                            ("insight", "insight"),
                            ("diary", "diary entry"),
                            ("gist", "gist of a page"),
                        ],
                        max_length=16,
                        verbose_name="kind",
                    ),
                ),
                ("text", models.TextField(verbose_name="text")),
                (
                    "speaker",
                    models.CharField(
                        blank=True,
                        choices=[("user", "user"), ("companion", "companion")],
                        max_length=16,
                        verbose_name="said by",
                    ),
                ),
                ("happened_at", models.DateTimeField(verbose_name="when it happened")),
                ("learnt_at", models.DateTimeField(verbose_name="when it was learnt")),
                ("edited_at", models.DateTimeField(blank=True, null=True, verbose_name="corrected")),
                ("closed_at", models.DateTimeField(blank=True, null=True, verbose_name="valid until")),
                ("is_pinned", models.BooleanField(default=False, verbose_name="pinned")),
                (
                    "aversion",
                    models.FloatField(
                        default=0.0,
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                        verbose_name="aversion",
                    ),
                ),
                ("entry", models.BinaryField(default=b"")),
                (
                    "evidence",
                    models.PositiveIntegerField(
                        default=1,
                        validators=[django.core.validators.MinValueValidator(1)],
                        verbose_name="times mentioned",
                    ),
                ),
                (
                    "importance",
                    models.PositiveSmallIntegerField(
                        default=5,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(10),
                        ],
                        verbose_name="importance",
                    ),
                ),
                (
                    "joy",
                    models.FloatField(
                        default=0.0,
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                        verbose_name="joy",
                    ),
                ),
                (
                    "recalled_at",
                    models.DateTimeField(blank=True, editable=False, null=True, verbose_name="last recalled"),
                ),
                (
                    "times_recalled",
                    models.PositiveIntegerField(default=0, editable=False, verbose_name="times recalled"),
                ),
                (
                    "confidence",
                    models.FloatField(
                        default=1.0,
                        validators=[
                            django.core.validators.MinValueValidator(0.0),
                            django.core.validators.MaxValueValidator(1.0),
                        ],
                        verbose_name="confidence",
                    ),
                ),
                ("is_private", models.BooleanField(default=False, verbose_name="hidden from models")),
                ("is_stale", models.BooleanField(default=False, verbose_name="based on deleted data")),
                ("quotes", models.JSONField(blank=True, default=list, verbose_name="quotes")),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40),
                        blank=True,
                        default=list,
                        size=None,
                        verbose_name="tags",
                    ),
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
                        related_name="memories",
                        to="companions.companion",
                    ),
                ),
                ("drawn_from", models.ManyToManyField(blank=True, related_name="draws", to="memory.memory")),
                (
                    "message",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memory",
                        to="companions.message",
                        verbose_name="message",
                    ),
                ),
                (
                    "replaced_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="replaces",
                        to="memory.memory",
                    ),
                ),
                (
                    "sources",
                    models.ManyToManyField(
                        blank=True, related_name="derived_memories", to="companions.message"
                    ),
                ),
            ],
            options={
                "verbose_name": "memory",
                "verbose_name_plural": "memories",
                "ordering": ["-happened_at", "-id"],
                "indexes": [
                    models.Index(fields=["companion", "-happened_at", "-id"], name="memory_companion_time"),
                    models.Index(
                        condition=models.Q(("kind__in", ["said", "diary", "gist", "insight"]), _negated=True),
                        fields=["companion", "learnt_at"],
                        name="memory_companion_learnt",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("message", None), ("kind", "said"), _connector="OR"),
                        name="memory_of_a_message_is_said",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("importance__range", (1, 10))), name="memory_importance_1_to_10"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("evidence__gte", 1)), name="memory_evidence_from_1"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("aversion__range", (0, 1)), ("joy__range", (0, 1))),
                        name="memory_feelings_0_to_1",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("confidence__range", (0, 1))), name="memory_confidence_0_to_1"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DiaryEntry",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("title", models.CharField(max_length=200, verbose_name="title")),
                ("sentences", models.JSONField(default=list, verbose_name="sentences")),
                ("started_at", models.DateTimeField(verbose_name="from")),
                ("ended_at", models.DateTimeField(verbose_name="until")),
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
                ("is_stale", models.BooleanField(default=False, verbose_name="based on deleted data")),
                ("made_at", models.DateTimeField(verbose_name="written")),
                ("attempts", models.PositiveSmallIntegerField(default=0, verbose_name="failed attempts")),
                ("next_at", models.DateTimeField(blank=True, null=True, verbose_name="next attempt")),
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
                        related_name="diary",
                        to="companions.companion",
                    ),
                ),
                (
                    "session",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="diary_entry",
                        to="companions.session",
                    ),
                ),
                (
                    "memory",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="diary_entry",
                        to="memory.memory",
                    ),
                ),
            ],
            options={
                "verbose_name": "diary entry",
                "verbose_name_plural": "diary entries",
                "ordering": ["-started_at", "-id"],
                "indexes": [
                    models.Index(fields=["companion", "-started_at", "-id"], name="diary_companion_time"),
                    models.Index(
                        condition=models.Q(("is_stale", True)), fields=["next_at"], name="diary_entry_stale"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Change",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("number", models.PositiveSmallIntegerField(verbose_name="number")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("merged", "merged"),
                            ("contradiction", "contradiction"),
                            ("insight", "insight"),
                            ("reviewed", "reviewed"),
                        ],
                        max_length=16,
                        verbose_name="kind",
                    ),
                ),
                ("before", models.JSONField(default=dict, verbose_name="before")),
                (
                    "settled",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("a", "the first is true"),
                            ("b", "the second is true"),
                            ("both", "both are true"),
                        ],
                        max_length=8,
                        verbose_name="settled",
                    ),
                ),
                ("undone_at", models.DateTimeField(blank=True, null=True, verbose_name="undone")),
                (
                    "companion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="companions.companion",
                    ),
                ),
                (
                    "consolidation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="changes",
                        to="memory.consolidation",
                    ),
                ),
                (
                    "memory",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="memory.memory"
                    ),
                ),
                ("others", models.ManyToManyField(blank=True, related_name="+", to="memory.memory")),
            ],
            options={
                "verbose_name": "change",
                "verbose_name_plural": "changes",
                "ordering": ["consolidation", "number"],
                "constraints": [
                    models.UniqueConstraint(fields=("consolidation", "number"), name="change_number_unique"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Page",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField(verbose_name="number")),
                ("text", models.TextField(verbose_name="text")),
                ("gist", models.TextField(blank=True, verbose_name="gist")),
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
                        related_name="+",
                        to="companions.companion",
                    ),
                ),
                (
                    "document",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pages",
                        to="memory.document",
                    ),
                ),
                (
                    "memory",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="page",
                        to="memory.memory",
                    ),
                ),
            ],
            options={
                "verbose_name": "page",
                "verbose_name_plural": "pages",
                "ordering": ["document", "number"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("gist", "")), fields=["document"], name="page_without_gist"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("document", "number"), name="page_number_unique"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Pursuit",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("new", "new"),
                            ("under_way", "under way"),
                            ("done", "done"),
                            ("given_up", "given up"),
                        ],
                        default="new",
                        max_length=16,
                        verbose_name="status",
                    ),
                ),
                (
                    "progress",
                    models.PositiveSmallIntegerField(
                        default=0,
                        validators=[django.core.validators.MaxValueValidator(100)],
                        verbose_name="progress (%)",
                    ),
                ),
                (
                    "excitement",
                    models.PositiveSmallIntegerField(
                        default=5,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(10),
                        ],
                        verbose_name="excitement",
                    ),
                ),
                (
                    "origin",
                    models.CharField(
                        choices=[
                            ("talk", "conversation"),
                            ("reflection", "reflection"),
                            ("night", "night"),
                            ("person", "user"),
                        ],
                        default="talk",
                        max_length=16,
                        verbose_name="origin",
                    ),
                ),
                ("reviewed_at", models.DateTimeField(blank=True, null=True, verbose_name="reviewed")),
                ("moved_at", models.DateTimeField(blank=True, null=True, verbose_name="last progress")),
                (
                    "companion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="companions.companion",
                    ),
                ),
                (
                    "memory",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pursuit",
                        to="memory.memory",
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="parts",
                        to="memory.memory",
                    ),
                ),
            ],
            options={
                "verbose_name": "pursuit",
                "verbose_name_plural": "pursuits",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("progress__lte", 100)), name="pursuit_progress_to_100"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("excitement__range", (1, 10))), name="pursuit_excitement_1_to_10"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Recall",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                (
                    "by",
                    models.CharField(
                        choices=[
                            ("turn", "turn"),
                            ("tool", "tool"),
                            ("api", "API"),
                            ("operator", "operator"),
                        ],
                        max_length=16,
                        verbose_name="by",
                    ),
                ),
                ("cue", models.TextField(blank=True, verbose_name="cue")),
                ("at", models.DateTimeField(verbose_name="when")),
                ("milliseconds", models.PositiveIntegerField(verbose_name="duration (ms)")),
                ("policy", models.CharField(blank=True, max_length=32, verbose_name="scoring policy")),
                (
                    "companion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="recalls",
                        to="companions.companion",
                    ),
                ),
                (
                    "reply",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="recalls",
                        to="companions.reply",
                    ),
                ),
            ],
            options={
                "verbose_name": "recall",
                "verbose_name_plural": "recalls",
                "ordering": ["-at"],
                "indexes": [
                    models.Index(fields=["companion", "-at"], name="recall_companion_time"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Recalled",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("rank", models.PositiveSmallIntegerField(verbose_name="rank")),
                ("score", models.FloatField(verbose_name="score")),
                ("reasons", models.JSONField(verbose_name="reasons")),
                ("is_used", models.BooleanField(default=False, verbose_name="used")),
                (
                    "memory",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="recalled",
                        to="memory.memory",
                    ),
                ),
                (
                    "recall",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="found", to="memory.recall"
                    ),
                ),
            ],
            options={
                "verbose_name": "recalled memory",
                "verbose_name_plural": "recalled memories",
                "ordering": ["rank"],
                "constraints": [
                    models.UniqueConstraint(fields=("recall", "memory"), name="recalled_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Revision",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                (
                    "about",
                    models.CharField(
                        choices=[("self_concept", "self-concept"), ("user_profile", "user profile")],
                        max_length=16,
                        verbose_name="about",
                    ),
                ),
                ("number", models.PositiveIntegerField(verbose_name="number")),
                ("sentences", models.JSONField(default=list, verbose_name="sentences")),
                (
                    "by",
                    models.CharField(
                        choices=[
                            ("closing", "end of a session"),
                            ("user", "user"),
                            ("operator", "operator"),
                            ("restored", "restored"),
                            ("deletion", "deletion"),
                            ("import", "import"),
                        ],
                        max_length=16,
                        verbose_name="made by",
                    ),
                ),
                ("is_stale", models.BooleanField(default=False, verbose_name="based on deleted data")),
                ("made_at", models.DateTimeField(verbose_name="created")),
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
                        related_name="revisions",
                        to="companions.companion",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="companions.session",
                    ),
                ),
            ],
            options={
                "verbose_name": "revision",
                "verbose_name_plural": "revisions",
                "ordering": ["-made_at", "-number"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("companion", "about", "number"), name="revision_number_unique"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Slot",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=60, verbose_name="name")),
                ("text", models.CharField(max_length=200, verbose_name="text")),
                (
                    "by",
                    models.CharField(
                        choices=[("companion", "companion"), ("user", "user"), ("operator", "operator")],
                        max_length=16,
                        verbose_name="written by",
                    ),
                ),
                ("changed_at", models.DateTimeField(verbose_name="changed")),
                (
                    "companion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="slots",
                        to="companions.companion",
                    ),
                ),
                ("sources", models.ManyToManyField(blank=True, related_name="+", to="companions.message")),
            ],
            options={
                "verbose_name": "slot",
                "verbose_name_plural": "slots",
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(fields=("companion", "name"), name="slot_name_unique"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Space",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("model", models.CharField(max_length=200, verbose_name="model")),
                (
                    "width",
                    models.PositiveIntegerField(
                        validators=[django.core.validators.MaxValueValidator(16000)], verbose_name="width"
                    ),
                ),
                ("query_prefix", models.CharField(blank=True, max_length=200, verbose_name="query prefix")),
                (
                    "document_prefix",
                    models.CharField(blank=True, max_length=200, verbose_name="document prefix"),
                ),
                ("max_tokens", models.PositiveIntegerField(verbose_name="maximum tokens at once")),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "answered_at",
                    models.DateTimeField(blank=True, null=True, verbose_name="wrong width since"),
                ),
                (
                    "answered_width",
                    models.PositiveIntegerField(blank=True, null=True, verbose_name="wrong width received"),
                ),
                (
                    "query_fields",
                    models.JSONField(blank=True, default=dict, verbose_name="extra fields of a query"),
                ),
                (
                    "document_fields",
                    models.JSONField(blank=True, default=dict, verbose_name="extra fields of a document"),
                ),
                ("edition", models.PositiveIntegerField(default=1, verbose_name="edition")),
            ],
            options={
                "verbose_name": "embedding space",
                "verbose_name_plural": "embedding spaces",
                "constraints": [
                    models.UniqueConstraint(
                        fields=(
                            "model",
                            "query_prefix",
                            "document_prefix",
                            "query_fields",
                            "document_fields",
                            "edition",
                        ),
                        name="space_told_by_model_and_manner",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("width__range", (1, 16000))), name="space_width_1_to_16000"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Embedding",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("window", models.PositiveSmallIntegerField(default=0, verbose_name="window")),
                ("vector", pgvector.django.vector.VectorField(null=True)),
                (
                    "bits",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Case(
                            models.When(
                                django.db.models.lookups.GreaterThan(
                                    models.Func(
                                        models.F("vector"),
                                        function="vector_dims",
                                        output_field=models.IntegerField(),
                                    ),
                                    2000,
                                ),
                                then=models.Func(
                                    models.F("vector"),
                                    function="binary_quantize",
                                    output_field=memory.models.embedding.BitsField(),
                                ),
                            )
                        ),
                        output_field=memory.models.embedding.BitsField(null=True),
                    ),
                ),
                (
                    "companion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="companions.companion",
                    ),
                ),
                (
                    "memory",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="embeddings",
                        to="memory.memory",
                    ),
                ),
                (
                    "space",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="embeddings",
                        to="memory.space",
                    ),
                ),
            ],
            options={
                "verbose_name": "embedding",
                "verbose_name_plural": "embeddings",
                "indexes": [
                    models.Index(fields=["companion", "space", "window"], name="embedding_companion_space"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("memory", "space", "window"), name="embedding_unique"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Block",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=60, verbose_name="name")),
                ("description", models.CharField(blank=True, max_length=200, verbose_name="what it is for")),
                ("text", models.TextField(blank=True, verbose_name="text")),
                (
                    "most_characters",
                    models.PositiveIntegerField(default=2000, verbose_name="maximum length in characters"),
                ),
                (
                    "is_read_only",
                    models.BooleanField(default=False, verbose_name="read-only for the companion"),
                ),
                (
                    "by",
                    models.CharField(
                        choices=[("companion", "companion"), ("user", "user"), ("operator", "operator")],
                        max_length=16,
                        verbose_name="written by",
                    ),
                ),
                ("changed_at", models.DateTimeField(verbose_name="changed")),
                (
                    "companion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="blocks",
                        to="companions.companion",
                    ),
                ),
                ("sources", models.ManyToManyField(blank=True, related_name="+", to="companions.message")),
            ],
            options={
                "verbose_name": "block",
                "verbose_name_plural": "blocks",
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(fields=("companion", "name"), name="block_name_unique")
                ],
            },
        ),
    ]
