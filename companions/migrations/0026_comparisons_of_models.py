import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("companions", "0025_what_wrote_a_message"),
    ]

    operations = [
        migrations.CreateModel(
            name="Comparison",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("own_model", models.CharField(max_length=200, verbose_name="own model")),
                ("other_model", models.CharField(max_length=200, verbose_name="other model")),
                ("report", models.JSONField(blank=True, default=dict, verbose_name="report")),
                ("error", models.CharField(blank=True, max_length=40, verbose_name="error")),
                ("attempts", models.PositiveSmallIntegerField(default=0, verbose_name="failed attempts")),
                ("next_at", models.DateTimeField(blank=True, null=True, verbose_name="continues at")),
                ("created_at", models.DateTimeField(verbose_name="requested")),
                ("ended_at", models.DateTimeField(blank=True, null=True, verbose_name="ended")),
                (
                    "companion",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="comparison",
                        to="companions.companion",
                    ),
                ),
            ],
            options={
                "verbose_name": "comparison of models",
                "verbose_name_plural": "comparisons of models",
                "indexes": [
                    models.Index(
                        condition=models.Q(("ended_at", None)), fields=["next_at"], name="comparison_open"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ComparedExchange",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("own_text", models.TextField(blank=True, null=True, verbose_name="own model's answer")),
                ("other_text", models.TextField(blank=True, null=True, verbose_name="other model's answer")),
                (
                    "own_emotions",
                    models.JSONField(blank=True, default=list, verbose_name="own model's emotions"),
                ),
                (
                    "other_emotions",
                    models.JSONField(blank=True, default=list, verbose_name="other model's emotions"),
                ),
                (
                    "comparison",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="exchanges",
                        to="companions.comparison",
                    ),
                ),
                (
                    "prompt",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="companions.prompt",
                    ),
                ),
            ],
            options={
                "verbose_name": "compared exchange",
                "verbose_name_plural": "compared exchanges",
                "ordering": ["pk"],
                "constraints": [
                    models.UniqueConstraint(fields=("comparison", "prompt"), name="compared_exchange_once")
                ],
            },
        ),
    ]
