import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("accounts", "0003_calls_in_the_background"),
        ("accounts", "0004_a_life_of_its_own"),
        ("accounts", "0005_sound_calls"),
    ]

    initial = True

    dependencies = [
        ("accounts", "0001_squashed_0002_calls_of_companions"),
        ("companions", "0001_squashed_0006_no_job_of_another_mind"),
    ]

    operations = [
        migrations.AddField(
            model_name="modelcall",
            name="companion",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="model_calls",
                to="companions.companion",
            ),
        ),
        migrations.AddField(
            model_name="modelcall",
            name="reply",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="model_calls",
                to="companions.reply",
            ),
        ),
        migrations.AddField(
            model_name="soundcall",
            name="companion",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="sound_calls",
                to="companions.companion",
            ),
        ),
    ]
