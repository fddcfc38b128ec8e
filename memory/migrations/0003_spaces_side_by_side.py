import django.core.validators
import django.db.models.lookups
import pgvector.django.vector
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import memory.models.embedding


def number_editions(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Spaces of one model that differ in width alone become its editions, the newest the last; may run again."""
    spaces = apps.get_model("memory", "Space").objects.using(schema_editor.connection.alias)
    spaces.filter(width__gt=16000).delete()  # no vector of theirs could ever be stored
    last: dict[tuple[str, str, str], int] = {}
    for space in spaces.order_by("pk"):
        told = (space.model, space.query_prefix, space.document_prefix)
        space.edition = last[told] = last.get(told, 0) + 1
        space.save(update_fields=["edition"])
    schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # else no table can be altered after it


def forget_refusals(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """On the way back: an embedding without a vector has no place there."""
    embeddings = apps.get_model("memory", "Embedding").objects.using(schema_editor.connection.alias)
    embeddings.filter(vector=None).delete()
    schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


class Migration(migrations.Migration):
    dependencies = [
        ("companions", "0002_recall_policy"),
        ("memory", "0002_what_recall_weighs"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="space", name="space_unique"),
        migrations.RemoveIndex(model_name="embedding", name="embedding_companion_space"),
        migrations.AlterField(
            model_name="embedding", name="vector", field=pgvector.django.vector.VectorField(null=True)
        ),
        migrations.AddField(
            model_name="embedding",
            name="bits",
            field=models.GeneratedField(
                db_persist=True,
                expression=models.Case(
                    models.When(
                        django.db.models.lookups.GreaterThan(
                            models.Func(
                                models.F("vector"), function="vector_dims", output_field=models.IntegerField()
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
        migrations.AddIndex(
            model_name="embedding",
            index=models.Index(fields=["companion", "space", "window"], name="embedding_companion_space"),
        ),
        migrations.AddField(
            model_name="space",
            name="answered_at",
            field=models.DateTimeField(blank=True, null=True, verbose_name="wrong width since"),
        ),
        migrations.AddField(
            model_name="space",
            name="answered_width",
            field=models.PositiveIntegerField(blank=True, null=True, verbose_name="wrong width answered"),
        ),
        migrations.AddField(
            model_name="space",
            name="query_fields",
            field=models.JSONField(blank=True, default=dict, verbose_name="extra fields of a query"),
        ),
        migrations.AddField(
            model_name="space",
            name="document_fields",
            field=models.JSONField(blank=True, default=dict, verbose_name="extra fields of a document"),
        ),
        migrations.AddField(
            model_name="space",
            name="edition",
            field=models.PositiveIntegerField(default=1, verbose_name="edition"),
        ),
        migrations.RunPython(number_editions, forget_refusals),
        migrations.AlterField(
            model_name="space",
            name="width",
            field=models.PositiveIntegerField(
                validators=[django.core.validators.MaxValueValidator(16000)], verbose_name="width"
            ),
        ),
        migrations.AddConstraint(
            model_name="space",
            constraint=models.UniqueConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="space",
            constraint=models.CheckConstraint(
                condition=models.Q(("width__range", (1, 16000))), name="space_width_1_to_16000"
            ),
        ),
    ]
