from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("companions", "0022_names_in_greetings"),
    ]

    operations = [
        migrations.AddField(
            model_name="companion",
            name="understood_until",
            field=models.DateTimeField(
                blank=True, editable=False, null=True, verbose_name="understood until"
            ),
        ),
    ]
