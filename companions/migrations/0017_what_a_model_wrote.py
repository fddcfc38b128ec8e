from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("companions", "0015_example_dialogue_and_tool_groups"),
    ]

    operations = [
        migrations.AddField(
            model_name="prompt",
            name="wrote",
            field=models.TextField(blank=True, verbose_name="what the model wrote"),
        ),
    ]
