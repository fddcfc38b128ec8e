import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """Rename the model; its table keeps its name."""

    dependencies = [("safety", "0004_operators_access")]
    operations = [
        migrations.AlterModelTable("together", "safety_together"),
        migrations.RenameModel("Together", "ContinuousUse"),
        migrations.AlterField(
            model_name="continuoususe",
            name="user",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                primary_key=True,
                related_name="continuous_use",
                serialize=False,
                to=settings.AUTH_USER_MODEL,
            ),
        ),
    ]
