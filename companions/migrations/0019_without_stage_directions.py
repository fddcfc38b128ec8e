from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("companions", "0018_proposals_to_forget"),
    ]

    operations = [
        migrations.AddField(
            model_name="companion",
            name="without_directions",
            field=models.BooleanField(
                default=False, verbose_name="without stage directions such as *smiles*"
            ),
        ),
    ]
