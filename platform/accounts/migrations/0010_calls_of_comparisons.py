from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0009_calls_of_a_provider"),
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
                    ("check", "check before sending"),
                ],
                max_length=16,
                verbose_name="purpose",
            ),
        ),
    ]
