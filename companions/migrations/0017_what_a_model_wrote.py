from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("companions", "0016_a_reminder_of_kiths_own"),
    ]

    operations = [
        migrations.AddField(
            model_name="prompt",
            name="wrote",
            field=models.TextField(blank=True, verbose_name="what the model wrote"),
        ),
    ]
