from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("companions", "0024_a_mind_of_its_own"),
    ]

    operations = [
        migrations.AddField(
            model_name="message",
            name="is_stand_in",
            field=models.BooleanField(default=False, verbose_name="by a stand-in"),
        ),
        migrations.AddField(
            model_name="message",
            name="model",
            field=models.CharField(blank=True, max_length=200, verbose_name="written by model"),
        ),
        migrations.AddField(
            model_name="waking",
            name="is_stand_in",
            field=models.BooleanField(default=False, verbose_name="by a stand-in"),
        ),
        migrations.AddField(
            model_name="waking",
            name="model",
            field=models.CharField(blank=True, max_length=200, verbose_name="written by model"),
        ),
    ]
