"""Nothing is left to do: the labels are given where the fields are made. Databases that ran it name it as their last."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0016_room_to_fall_asleep"),
    ]

    operations = []
