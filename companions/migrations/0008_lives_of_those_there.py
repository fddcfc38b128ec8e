from django.db import migrations

# Who was there before companions had a life gets one as new ones do; the sweep gives each its timers.
GIVE = "INSERT INTO companions_life (companion_id, is_awake, reaches_out, is_muted, most_a_day, quiet_from, quiet_until, sleeps_from, sleeps_until, by_email, by_push, reflect_attempts) SELECT id, true, false, false, 2, '22:00', '08:00', '23:30', '07:00', false, true, 0 FROM companions_companion"


class Migration(migrations.Migration):
    dependencies = [("companions", "0007_a_life_of_its_own")]
    operations = [migrations.RunSQL(GIVE, migrations.RunSQL.noop)]
