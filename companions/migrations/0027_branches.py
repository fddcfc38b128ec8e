import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("companions", "0026_comparisons_of_models"),
    ]

    operations = [
        migrations.CreateModel(
            name="Branch",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("name", models.CharField(blank=True, max_length=80, verbose_name="name")),
                ("made_at", models.DateTimeField(verbose_name="created")),
                ("left_at", models.DateTimeField(blank=True, null=True, verbose_name="chosen until")),
                (
                    "companion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="branches",
                        to="companions.companion",
                    ),
                ),
                (
                    "conversation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="branches",
                        to="companions.conversation",
                    ),
                ),
                (
                    "head",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="companions.message",
                        verbose_name="ends with",
                    ),
                ),
            ],
            options={
                "verbose_name": "branch",
                "verbose_name_plural": "branches",
                "ordering": ["-made_at", "-id"],
                "indexes": [
                    models.Index(fields=["companion", "-made_at", "-id"], name="branch_companion_time")
                ],
            },
        ),
        migrations.CreateModel(
            name="JournalEntry",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("at", models.UUIDField(verbose_name="after")),
                ("table", models.CharField(max_length=60, verbose_name="table")),
                ("row", models.CharField(max_length=40, verbose_name="row")),
                (
                    "kind",
                    models.CharField(
                        choices=[("insert", "added"), ("update", "changed"), ("delete", "removed")],
                        max_length=8,
                        verbose_name="kind",
                    ),
                ),
                ("before", models.JSONField(null=True, verbose_name="before")),
                ("after", models.JSONField(null=True, verbose_name="after")),
                ("is_undone", models.BooleanField(default=False, verbose_name="undone")),
                (
                    "companion",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="companions.companion",
                    ),
                ),
            ],
            options={
                "verbose_name": "journal entry",
                "verbose_name_plural": "journal entries",
                "ordering": ["id"],
                "indexes": [
                    models.Index(fields=["companion", "at"], name="journal_companion_at"),
                    models.Index(fields=["table", "row"], name="journal_row"),
                ],
            },
        ),
        migrations.RemoveConstraint(
            model_name="session",
            name="session_one_open",
        ),
        migrations.AddField(
            model_name="message",
            name="is_asleep",
            field=models.BooleanField(default=False, editable=False, verbose_name="on another branch"),
        ),
        migrations.AddField(
            model_name="session",
            name="is_asleep",
            field=models.BooleanField(default=False, editable=False, verbose_name="on another branch"),
        ),
        migrations.AddField(
            model_name="timer",
            name="is_asleep",
            field=models.BooleanField(default=False, editable=False, verbose_name="on another branch"),
        ),
        migrations.AddConstraint(
            model_name="session",
            constraint=models.UniqueConstraint(
                condition=models.Q(("ended_at", None), ("is_asleep", False)),
                fields=("conversation",),
                name="session_one_open",
            ),
        ),
        migrations.AddField(
            model_name="conversation",
            name="branch",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="companions.branch",
            ),
        ),
    ]
