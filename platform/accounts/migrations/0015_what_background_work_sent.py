"""Keep what background work sent to models, and what came back, for 30 days or until something is deleted."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0014_account_deletions"),
        ("companions", "0047_last_deletion"),
    ]

    operations = [
        migrations.AddField(
            model_name="modelcall",
            name="received",
            field=models.JSONField(blank=True, null=True, verbose_name="received"),
        ),
        migrations.AddField(
            model_name="modelcall",
            name="sent",
            field=models.JSONField(blank=True, null=True, verbose_name="sent"),
        ),
        migrations.AddIndex(
            model_name="modelcall",
            index=models.Index(
                condition=models.Q(("sent__isnull", False)),
                fields=["started_at"],
                name="model_call_words_age",
            ),
        ),
        migrations.AddIndex(
            model_name="modelcall",
            index=models.Index(
                condition=models.Q(("sent__isnull", False)), fields=["companion"], name="model_call_words"
            ),
        ),
    ]
