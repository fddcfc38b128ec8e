from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0011_age_groups"),
    ]

    operations = [
        migrations.AlterField(
            model_name="modelcall",
            name="purpose",
            field=models.CharField(
                choices=[
                    ("answer", "answer"),
                    ("embedding", "embedding"),
                    ("learning", "summary and learning"),
                    ("closing", "end of a session"),
                    ("gists", "gists of pages"),
                    ("consolidation", "consolidation"),
                    ("reflection", "reflection"),
                    ("waking", "waking"),
                    ("comparison", "comparison of models"),
                    ("trial", "try-out of a character"),
                    ("check", "check before sending"),
                ],
                max_length=16,
                verbose_name="purpose",
            ),
        ),
    ]
