from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("accounts", "0011_age_groups")]

    operations = [
        migrations.AlterModelOptions(
            name="idempotencykey",
            options={"verbose_name": "idempotency key", "verbose_name_plural": "idempotency keys"},
        ),
    ]
