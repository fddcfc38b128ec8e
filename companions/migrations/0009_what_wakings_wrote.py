import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("companions", "0008_lives_of_those_there")]
    operations = [
        migrations.AddField(
            model_name="innerstate",
            name="is_rehearsed",
            field=models.BooleanField(default=False, verbose_name="written by the rehearsal model"),
        ),
        migrations.AddField(
            model_name="waking",
            name="is_rehearsed",
            field=models.BooleanField(default=False, verbose_name="written by the rehearsal model"),
        ),
        migrations.AddField(
            model_name="session",
            name="waking",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="pages",
                to="companions.waking",
                verbose_name="a diary page of the waking",
            ),
        ),
    ]
