import django.contrib.postgres.indexes
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
            model_name="prompt",
            name="companion",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="prompts", to="companions.companion"
            ),
        ),
        migrations.AddField(
            model_name="reply",
            name="answer",
            field=models.OneToOneField(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="made_by",
                to="companions.message",
                verbose_name="answer",
            ),
        ),
        migrations.AddField(
            model_name="reply",
            name="companion",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="replies", to="companions.companion"
            ),
        ),
        migrations.AddField(
            model_name="reply",
            name="continues",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="continued_by",
                to="companions.reply",
            ),
        ),
        migrations.AddField(
            model_name="reply",
            name="message",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="replies",
                to="companions.message",
                verbose_name="answers",
            ),
        ),
        migrations.AddField(
            model_name="prompt",
            name="reply",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="prompts", to="companions.reply"
            ),
        ),
        migrations.AddField(
            model_name="session",
            name="companion",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="sessions",
                to="companions.companion",
            ),
        ),
        migrations.AddField(
            model_name="session",
            name="conversation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="sessions",
                to="companions.conversation",
            ),
        ),
        migrations.AddField(
            model_name="message",
            name="session",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="messages", to="companions.session"
            ),
        ),
        migrations.AddField(
            model_name="closing",
            name="session",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="closings", to="companions.session"
            ),
        ),
        migrations.AddField(
            model_name="timer",
            name="companion",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="timers", to="companions.companion"
            ),
        ),
        migrations.AddField(
            model_name="timer",
            name="message",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="timers",
                to="companions.message",
                verbose_name="set in answer to",
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
        migrations.AddField(
            model_name="waking",
            name="companion",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="wakings", to="companions.companion"
            ),
        ),
        migrations.AddField(
            model_name="waking",
            name="timer",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="wakings",
                to="companions.timer",
            ),
        ),
        migrations.AddField(
            model_name="timer",
            name="waking",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="timers_set",
                to="companions.waking",
                verbose_name="set in waking",
            ),
        ),
        migrations.AddField(
            model_name="session",
            name="waking",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="pages",
                to="companions.waking",
                verbose_name="waking that wrote this page",
            ),
        ),
        migrations.AddField(
            model_name="message",
            name="waking",
            field=models.OneToOneField(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="message",
                to="companions.waking",
                verbose_name="said in the waking",
            ),
        ),
        migrations.AddField(
            model_name="innerstate",
            name="waking",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="inner_states",
                to="companions.waking",
            ),
        ),
        migrations.AddIndex(
            model_name="life",
            index=models.Index(
                condition=models.Q(("is_awake", True)), fields=["drives_at"], name="life_drives_due"
            ),
        ),
        migrations.AddIndex(
            model_name="companion",
            index=models.Index(fields=["user", "-created_at"], name="companion_user_time"),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                condition=models.Q(("state", "waiting")), fields=["due_at"], name="delivery_due"
            ),
        ),
        migrations.AddConstraint(
            model_name="delivery",
            constraint=models.UniqueConstraint(
                fields=("message", "channel", "destination"), name="delivery_once_an_address"
            ),
        ),
        migrations.AddConstraint(
            model_name="picture",
            constraint=models.UniqueConstraint(
                fields=("companion", "emotion"), name="picture_once_an_emotion"
            ),
        ),
        migrations.AddIndex(
            model_name="reply",
            index=models.Index(fields=["companion", "-created_at"], name="reply_companion_time"),
        ),
        migrations.AddIndex(
            model_name="reply",
            index=models.Index(
                condition=models.Q(("state__in", ["queued", "thinking", "streaming"])),
                fields=["lease_at"],
                name="reply_open_lease",
            ),
        ),
        migrations.AddConstraint(
            model_name="reply",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ["thinking", "streaming"])),
                fields=("companion",),
                name="reply_one_at_a_time",
            ),
        ),
        migrations.AddIndex(
            model_name="prompt",
            index=django.contrib.postgres.indexes.GinIndex(fields=["shown"], name="prompt_shown"),
        ),
        migrations.AddIndex(
            model_name="prompt", index=models.Index(fields=["created_at"], name="prompt_age")
        ),
        migrations.AddConstraint(
            model_name="prompt",
            constraint=models.UniqueConstraint(fields=("reply", "round"), name="prompt_round_unique"),
        ),
        migrations.AddIndex(
            model_name="closing",
            index=models.Index(
                condition=models.Q(("state", "waiting")), fields=["next_at"], name="closing_due"
            ),
        ),
        migrations.AddConstraint(
            model_name="closing",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "waiting")), fields=("session",), name="closing_one_at_a_time"
            ),
        ),
        migrations.AddIndex(
            model_name="waking",
            index=models.Index(fields=["companion", "-due_at", "-id"], name="waking_companion_time"),
        ),
        migrations.AddIndex(
            model_name="waking",
            index=models.Index(
                condition=models.Q(("state", "waiting")), fields=["look_at"], name="waking_look"
            ),
        ),
        migrations.AddIndex(
            model_name="waking",
            index=models.Index(
                condition=models.Q(("state", "failed")), fields=["due_at"], name="waking_failed"
            ),
        ),
        migrations.AddConstraint(
            model_name="waking",
            constraint=models.UniqueConstraint(fields=("timer", "due_at"), name="waking_once_a_due_time"),
        ),
        migrations.AddConstraint(
            model_name="waking",
            constraint=models.UniqueConstraint(
                condition=models.Q(("drive_key", ""), _negated=True),
                fields=("companion", "drive_key"),
                name="waking_once_an_occasion",
            ),
        ),
        migrations.AddIndex(
            model_name="timer",
            index=models.Index(
                condition=models.Q(("state", "active")), fields=["look_at"], name="timer_look"
            ),
        ),
        migrations.AddIndex(
            model_name="timer", index=models.Index(fields=["companion", "due_at"], name="timer_companion_due")
        ),
        migrations.AddIndex(
            model_name="timer",
            index=models.Index(
                condition=models.Q(("state", "set_aside")), fields=["created_at"], name="timer_set_aside"
            ),
        ),
        migrations.AddConstraint(
            model_name="timer",
            constraint=models.UniqueConstraint(
                condition=models.Q(("name", ""), _negated=True),
                fields=("companion", "name"),
                name="timer_predefined_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="timer",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "active"), _negated=True),
                    models.Q(("due_at__isnull", False), ("look_at__isnull", False)),
                    _connector="OR",
                ),
                name="timer_active_is_due",
            ),
        ),
        migrations.AddConstraint(
            model_name="session",
            constraint=models.UniqueConstraint(
                condition=models.Q(("ended_at", None)), fields=("conversation",), name="session_one_open"
            ),
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(fields=["companion", "-said_at", "-id"], name="message_companion_time"),
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(fields=["companion", "-created_at"], name="message_companion_stored"),
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(fields=["session", "said_at", "id"], name="message_session_time"),
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(
                condition=models.Q(("is_learnt", False)), fields=["session"], name="message_not_learnt"
            ),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=models.UniqueConstraint(
                fields=("companion", "client_id"), name="message_client_id_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="innerstate",
            constraint=models.UniqueConstraint(
                fields=("companion", "number"), name="inner_state_number_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="innerstate",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("arousal__range", (0, 1)), ("intensity__range", (0, 1)), ("valence__range", (-1, 1))
                ),
                name="inner_state_within_bounds",
            ),
        ),
    ]
