from django.db import migrations


class Migration(migrations.Migration):
    """Each draft tells what it was made from; those of before this are made again."""

    dependencies = [
        ("companions", "0019_without_stage_directions"),
    ]

    operations = [
        migrations.RemoveField(model_name="closing", name="seen"),
    ]
