import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [("files", "0001_initial"), ("files", "0002_what_lost_its_content")]

    initial = True

    dependencies = [
        ("companions", "0001_squashed_0006_no_job_of_another_mind"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="StoredFile",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("speech", "speech"),
                            ("recording", "recording"),
                            ("reference", "reference recording"),
                            ("picture", "picture"),
                            ("attachment", "attachment"),
                            ("card", "picture of a card"),
                            ("gallery", "picture of a published character"),
                            ("past", "earlier talk"),
                            ("archive", "archive of a companion"),
                        ],
                        max_length=16,
                        verbose_name="kind",
                    ),
                ),
                ("key", models.CharField(max_length=200, unique=True, verbose_name="name in the storage")),
                ("content_type", models.CharField(max_length=80, verbose_name="content type")),
                ("bytes", models.PositiveBigIntegerField(verbose_name="bytes")),
                ("sha256", models.CharField(max_length=64)),
                ("seconds", models.FloatField(blank=True, null=True, verbose_name="seconds")),
                ("width", models.PositiveIntegerField(blank=True, null=True, verbose_name="width")),
                ("height", models.PositiveIntegerField(blank=True, null=True, verbose_name="height")),
                ("created_at", models.DateTimeField(verbose_name="stored")),
                (
                    "missed_at",
                    models.DateTimeField(
                        blank=True, editable=False, null=True, verbose_name="content missing since"
                    ),
                ),
                (
                    "companion",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="files",
                        to="companions.companion",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="files",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="user",
                    ),
                ),
            ],
            options={
                "verbose_name": "file",
                "verbose_name_plural": "files",
                "ordering": ["-created_at"],
                "indexes": [models.Index(fields=["user", "-created_at"], name="file_user_time")],
            },
        )
    ]
