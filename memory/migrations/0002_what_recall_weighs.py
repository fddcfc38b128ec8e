from zoneinfo import ZoneInfo

import django.core.validators
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from memory.entries import pack
from memory.terms import terms
from memory.traits import traits

BATCH = 1000


def pack_entries(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Give each memory without an entry its own; may run again."""
    memory = apps.get_model("memory", "Memory")
    memories = memory.objects.using(schema_editor.connection.alias)
    waiting = memories.filter(entry=b"").select_related("companion__user").order_by("pk")
    while batch := list(waiting[:BATCH]):
        for one in batch:
            when = one.happened_at.astimezone(ZoneInfo(one.companion.user.time_zone))
            one.entry = pack(when, traits(one.text, one.speaker), terms(one.text, when))
        memories.bulk_update(batch, ["entry"])


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_calls_of_companions"),
        ("companions", "0002_recall_policy"),
        ("memory", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="memory",
            name="aversion",
            field=models.FloatField(
                default=0.0,
                validators=[
                    django.core.validators.MinValueValidator(0.0),
                    django.core.validators.MaxValueValidator(1.0),
                ],
                verbose_name="aversion",
            ),
        ),
        migrations.AddField(
            model_name="memory",
            name="entry",
            field=models.BinaryField(default=b""),
        ),
        migrations.AddField(
            model_name="memory",
            name="evidence",
            field=models.PositiveIntegerField(
                default=1, validators=[django.core.validators.MinValueValidator(1)], verbose_name="times told"
            ),
        ),
        migrations.AddField(
            model_name="memory",
            name="importance",
            field=models.PositiveSmallIntegerField(
                default=5,
                validators=[
                    django.core.validators.MinValueValidator(1),
                    django.core.validators.MaxValueValidator(10),
                ],
                verbose_name="importance",
            ),
        ),
        migrations.AddField(
            model_name="memory",
            name="joy",
            field=models.FloatField(
                default=0.0,
                validators=[
                    django.core.validators.MinValueValidator(0.0),
                    django.core.validators.MaxValueValidator(1.0),
                ],
                verbose_name="joy",
            ),
        ),
        migrations.AddField(
            model_name="memory",
            name="recalled_at",
            field=models.DateTimeField(blank=True, editable=False, null=True, verbose_name="last recalled"),
        ),
        migrations.AddField(
            model_name="memory",
            name="times_recalled",
            field=models.PositiveIntegerField(default=0, editable=False, verbose_name="times recalled"),
        ),
        migrations.AddField(
            model_name="recall",
            name="policy",
            field=models.CharField(blank=True, max_length=32, verbose_name="scoring policy"),
        ),
        migrations.AddField(
            model_name="recalled",
            name="is_used",
            field=models.BooleanField(default=False, verbose_name="used"),
        ),
        migrations.AddConstraint(
            model_name="memory",
            constraint=models.CheckConstraint(
                condition=models.Q(("importance__range", (1, 10))), name="memory_importance_1_to_10"
            ),
        ),
        migrations.AddConstraint(
            model_name="memory",
            constraint=models.CheckConstraint(
                condition=models.Q(("evidence__gte", 1)), name="memory_evidence_from_1"
            ),
        ),
        migrations.AddConstraint(
            model_name="memory",
            constraint=models.CheckConstraint(
                condition=models.Q(("aversion__range", (0, 1)), ("joy__range", (0, 1))),
                name="memory_feelings_0_to_1",
            ),
        ),
        migrations.RunPython(pack_entries, migrations.RunPython.noop),
        migrations.RemoveIndex(
            model_name="memory",
            name="memory_terms",
        ),
        migrations.RemoveField(
            model_name="memory",
            name="terms",
        ),
    ]
