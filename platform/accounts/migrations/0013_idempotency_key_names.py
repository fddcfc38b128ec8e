from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("accounts", "0012_calls_of_trials")]

    operations = [
        migrations.AlterModelOptions(
            name="idempotencykey",
            options={"verbose_name": "idempotency key", "verbose_name_plural": "idempotency keys"},
        ),
    ]
