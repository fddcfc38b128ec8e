import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """No release has written changes yet: their table is made anew, with public ids."""

    dependencies = [("memory", "0004_what_is_learnt")]

    operations = [
        migrations.DeleteModel(name="Change"),
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
                            ("a", "the first holds"),
                            ("b", "the second holds"),
                            ("both", "both hold"),
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
                    models.UniqueConstraint(fields=("consolidation", "number"), name="change_number_unique")
                ],
            },
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("kind__in", ["said", "diary", "gist", "insight"]), _negated=True),
                fields=["companion", "learnt_at"],
                name="memory_companion_learnt",
            ),
        ),
    ]
