"""Nothing is left to do: the labels are given where the fields are made. Databases that ran it name it as their last."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("companions", "0045_replies_in_a_call"),
    ]

    operations = []
