import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [("safety", "0001_initial"), ("safety", "0002_time_together")]

    initial = True

    dependencies = [
        ("accounts", "0001_squashed_0002_calls_of_companions"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Together",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="together",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("begun_at", models.DateTimeField(verbose_name="since")),
                ("last_at", models.DateTimeField(verbose_name="last message")),
                (
                    "told_at",
                    models.DateTimeField(blank=True, null=True, verbose_name="last suggestion of a break"),
                ),
                (
                    "ai_told_on",
                    models.DateField(blank=True, null=True, verbose_name="last reminder that this is an AI"),
                ),
            ],
            options={"verbose_name": "continuous use", "verbose_name_plural": "periods of continuous use"},
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "deed",
                    models.CharField(
                        choices=[
                            ("opened", "opened"),
                            ("listed", "listed"),
                            ("changed", "changed"),
                            ("deleted", "deleted"),
                            ("password_set", "set the password of"),
                            ("address_changed", "changed an address of"),
                            ("signed_in", "may have signed in as"),
                            ("closed", "closed the account of"),
                            ("reopened", "reopened the account of"),
                        ],
                        max_length=16,
                        verbose_name="action",
                    ),
                ),
                ("kind", models.CharField(max_length=80, verbose_name="kind of object")),
                ("object_id", models.CharField(blank=True, max_length=64, verbose_name="object id")),
                ("reason", models.CharField(blank=True, max_length=500, verbose_name="reason")),
                ("at", models.DateTimeField(auto_now_add=True, verbose_name="when")),
                (
                    "operator",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="operator",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="owner",
                    ),
                ),
            ],
            options={
                "verbose_name": "audit entry",
                "verbose_name_plural": "audit entries",
                "ordering": ["-at"],
            },
        ),
        migrations.CreateModel(
            name="Notice",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("ai", "this is an AI"),
                            ("break", "a break is due"),
                            ("crisis", "help lines, in a crisis"),
                            ("password_set", "an operator set the password"),
                            ("address_changed", "an operator changed an address"),
                            ("signed_in", "signed in after an operator did"),
                            ("publication", "an operator decided about a character"),
                            ("report_upheld", "a reported character was taken down"),
                            ("report_settled", "a report was dealt with"),
                        ],
                        max_length=16,
                        verbose_name="kind",
                    ),
                ),
                ("minutes", models.PositiveIntegerField(default=0, verbose_name="minutes of continuous use")),
                ("made_at", models.DateTimeField(verbose_name="created")),
                ("seen_at", models.DateTimeField(blank=True, null=True, verbose_name="seen")),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notices",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "notice",
                "verbose_name_plural": "notices",
                "ordering": ["-made_at"],
                "indexes": [models.Index(fields=["user", "-made_at"], name="notice_user_time")],
            },
        ),
    ]
