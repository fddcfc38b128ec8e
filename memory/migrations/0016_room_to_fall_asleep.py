"""Leave free space on each page of the table, so that `is_asleep` can change without an update of any index.

Choosing a branch changes `is_asleep` of thousands of rows. Pages that are filled from now on leave the space;
`VACUUM FULL memory_memory` rewrites those that exist with it.
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
