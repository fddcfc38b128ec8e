import uuid
from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

COPIED = (
    *("name", "published_as", "line", "summary", "tags", "language", "licence", "rating", "number"),
    "content",
)


def copy_reported(apps: Any, schema_editor: Any) -> None:
    """Give each report that has none a copy of what it is about."""
    Report = apps.get_model("companions", "GalleryReport")
    Version = apps.get_model("companions", "GalleryVersion")
    Copy = apps.get_model("companions", "ReportedVersion")
    for report in Report.objects.filter(copy=None).exclude(character=None).iterator(100):
        versions = Version.objects.filter(character=report.character_id, number=report.number)
        for version in versions.select_related("character"):
            copied = {name: getattr(version, name) for name in COPIED}
            of = {"user_id": version.character.user_id, "published": copied, "kept_at": report.created_at}
            report.copy, _is_new = Copy.objects.get_or_create(version=version, defaults=of)
            report.save(update_fields=["copy"])


class Migration(migrations.Migration):
    dependencies = [
        ("companions", "0043_gallery"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ReportedVersion",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("published", models.JSONField()),
                ("kept_at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reported_versions",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="publisher",
                    ),
                ),
                (
                    "version",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="reported",
                        to="companions.galleryversion",
                    ),
                ),
            ],
        ),
        migrations.AlterField(
            model_name="galleryreport",
            name="character",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="reports",
                to="companions.gallerycharacter",
                verbose_name="published character",
            ),
        ),
        migrations.AddField(
            model_name="galleryreport",
            name="copy",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="reports",
                to="companions.reportedversion",
            ),
        ),
        migrations.RunPython(copy_reported, migrations.RunPython.noop),
    ]
