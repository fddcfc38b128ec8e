import django.db.models.deletion
import django.db.models.functions.text
from django.conf import settings
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
            model_name="modelcall",
            name="user",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="model_calls",
                to=settings.AUTH_USER_MODEL,
                verbose_name="user",
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
        migrations.AddField(
            model_name="soundcall",
            name="user",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="sound_calls",
                to=settings.AUTH_USER_MODEL,
                verbose_name="user",
            ),
        ),
        migrations.AddField(
            model_name="token",
            name="user",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="tokens",
                to=settings.AUTH_USER_MODEL,
                verbose_name="user",
            ),
        ),
        migrations.AddConstraint(
            model_name="user",
            constraint=models.UniqueConstraint(
                django.db.models.functions.text.Lower("email"), name="user_email_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="idempotencykey",
            constraint=models.UniqueConstraint(
                fields=("user", "operation", "key"), name="idempotency_key_unique"
            ),
        ),
        migrations.AddIndex(
            model_name="modelcall",
            index=models.Index(fields=["user", "started_at"], name="model_call_user_day"),
        ),
        migrations.AddIndex(
            model_name="soundcall",
            index=models.Index(fields=["user", "started_at"], name="sound_call_user_day"),
        ),
    ]
