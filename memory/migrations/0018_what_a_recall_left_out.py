"""Add to each recall of a turn which memories nearly came, and why they did not."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memory", "0017_goals_of_a_person")]

    operations = [
        migrations.AddField(
            model_name="recall",
            name="left_out",
            field=models.JSONField(blank=True, null=True, verbose_name="left out"),
        ),
    ]
