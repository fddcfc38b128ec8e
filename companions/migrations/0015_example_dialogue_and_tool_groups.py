import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("companions", "0014_an_inner_state_without_words"),
    ]

    operations = [
        migrations.AddField(
            model_name="companion",
            name="example_dialogue",
            field=models.TextField(blank=True, max_length=20000, verbose_name="example dialogue"),
        ),
        migrations.AddField(
            model_name="session",
            name="tool_groups",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=20),
                blank=True,
                default=list,
                size=None,
                verbose_name="further tools requested",
            ),
        ),
    ]
