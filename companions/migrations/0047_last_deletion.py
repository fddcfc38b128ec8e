"""Note when something of a companion was last deleted."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("companions", "0046_pasts_of_claude_and_deepseek"),
    ]

    operations = [
        migrations.AddField(
            model_name="companion",
            name="scrubbed_at",
            field=models.DateTimeField(blank=True, editable=False, null=True, verbose_name="last deletion"),
        ),
    ]
