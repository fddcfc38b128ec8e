import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("companions", "0007_a_life_of_its_own"),
        ("companions", "0008_lives_of_those_there"),
        ("companions", "0009_what_wakings_wrote"),
        ("companions", "0010_what_waits_for_an_operator"),
        ("companions", "0011_a_face"),
        ("companions", "0012_pictures"),
        ("companions", "0013_a_waking_tells_its_emotions"),
    ]

    initial = True

    dependencies = [
        ("companions", "0001_squashed_0006_no_job_of_another_mind"),
        ("files", "0001_squashed_0002_what_lost_its_content"),
        ("memory", "0001_squashed_0008_when_a_pursuit_moved"),
    ]

    operations = [
        migrations.AddField(
            model_name="picture",
            name="file",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE, related_name="picture", to="files.storedfile"
            ),
        ),
        migrations.AddField(
            model_name="waking",
            name="about",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="memory.memory",
                verbose_name="about",
            ),
        ),
    ]
