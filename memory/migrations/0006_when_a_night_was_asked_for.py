import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memory", "0005_changes_can_be_settled")]

    operations = [
        migrations.AddField(
            model_name="consolidation",
            name="asked_at",
            field=models.DateTimeField(default=django.utils.timezone.now, verbose_name="asked"),
            preserve_default=False,
        ),
    ]
