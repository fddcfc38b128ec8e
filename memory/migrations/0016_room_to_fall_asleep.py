"""Leave room on each page, so that rows fall asleep and wake without a word in any index.

A branch that is chosen turns `is_asleep` of thousands of rows. The room is left on pages that are filled from now on;
`VACUUM FULL memory_memory` gives it to those that are there.
"""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("memory", "0015_branches")]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE memory_memory SET (fillfactor = 70)",
            "ALTER TABLE memory_memory RESET (fillfactor)",
        ),
    ]
