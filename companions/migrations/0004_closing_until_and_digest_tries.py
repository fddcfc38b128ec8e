import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("companions", "0003_sessions_close"),
    ]

    operations = [
        migrations.RemoveField(model_name="closing", name="until"),
        migrations.AddField(
            model_name="closing",
            name="until_at",
            field=models.DateTimeField(
                default=django.utils.timezone.now, verbose_name="closes what was said until"
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="session",
            name="digest_at",
            field=models.DateTimeField(blank=True, null=True, verbose_name="next digest"),
        ),
        migrations.AddField(
            model_name="session",
            name="digest_attempts",
            field=models.PositiveSmallIntegerField(default=0, verbose_name="failed digests"),
        ),
    ]
