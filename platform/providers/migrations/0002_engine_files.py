"""Providers whose model is a file, run by an engine of Kith's own."""

import django.core.validators
from django.db import migrations, models

import providers.models


class Migration(migrations.Migration):
    dependencies = [
        ("providers", "0001_providers"),
    ]

    operations = [
        migrations.AddField(
            model_name="provider",
            name="engine_file",
            field=models.CharField(
                blank=True,
                help_text="A model file in GGUF format on this machine, which Kith runs itself; leave the address empty",
                max_length=1000,
                verbose_name="file",
            ),
        ),
        migrations.AddField(
            model_name="provider",
            name="threads",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="How many threads the engine uses. Empty: one fewer than there are cores",
                null=True,
                validators=[
                    django.core.validators.MinValueValidator(1),
                    django.core.validators.MaxValueValidator(1024),
                ],
                verbose_name="threads",
            ),
        ),
        migrations.AlterField(
            model_name="provider",
            name="base_url",
            field=models.CharField(
                blank=True,
                help_text="OpenAI-compatible, usually ending in /v1, such as http://127.0.0.1:11434/v1",
                max_length=200,
                validators=[providers.models.validate_address],
                verbose_name="address",
            ),
        ),
        migrations.AddConstraint(
            model_name="provider",
            constraint=models.CheckConstraint(
                condition=models.Q(("base_url", ""), ("engine_file", ""), _connector="XOR"),
                name="provider_has_a_server_or_a_file",
                violation_error_message="A provider has an address, or a file, and not both.",
            ),
        ),
    ]
