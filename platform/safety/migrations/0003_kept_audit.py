from django.db import migrations

KEEP = """
CREATE FUNCTION safety_keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.owner_id IS NULL
            AND to_jsonb(NEW) - 'owner_id' = to_jsonb(OLD) - 'owner_id' THEN
        RETURN NEW;  -- whose it was is gone
    END IF;
    RAISE EXCEPTION 'An audit entry is never changed or deleted.' USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE TRIGGER safety_keep_audit BEFORE UPDATE OR DELETE ON safety_auditentry
    FOR EACH ROW EXECUTE FUNCTION safety_keep_audit();
"""
FORGET = """
DROP TRIGGER safety_keep_audit ON safety_auditentry;
DROP FUNCTION safety_keep_audit();
"""


class Migration(migrations.Migration):
    dependencies = [("safety", "0001_squashed_0002_time_together")]
    operations = [migrations.RunSQL(KEEP, FORGET)]
