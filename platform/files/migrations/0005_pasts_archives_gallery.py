"""Nothing is left to do: the labels are given where the fields are made. Databases that ran it name it as their last."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("files", "0001_squashed_0002_what_lost_its_content"),
    ]

    operations = []
