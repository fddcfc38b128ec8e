from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def keep(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Leave all as it is."""


def delete_copies(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Leave each file and document with its first message alone, as before."""
    attachments = apps.get_model("companions", "Attachment").objects
    for field in ("file", "document"):
        first = (
            attachments.filter(**{f"{field}__isnull": False})
            .order_by(field, "created_at", "id")
            .distinct(field)
        )
        kept = list(first.values_list("pk", flat=True))
        attachments.filter(**{f"{field}__isnull": False}).exclude(pk__in=kept).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("companions", "0035_attachments"),
        ("files", "0001_squashed_0002_what_lost_its_content"),
        ("memory", "0017_goals_of_a_person"),
    ]

    operations = [
        migrations.RunPython(keep, delete_copies),
        migrations.AlterField(
            model_name="attachment",
            name="document",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=models.CASCADE,
                related_name="attachments",
                to="memory.document",
                verbose_name="document",
            ),
        ),
        migrations.AlterField(
            model_name="attachment",
            name="file",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=models.CASCADE,
                related_name="attachments",
                to="files.storedfile",
            ),
        ),
    ]
