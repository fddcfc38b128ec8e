"""Pages of companions, to be included at the root."""

from django.urls import URLPattern, URLResolver, include, path
from django.views.i18n import set_language

from companions.pages import (
    companions,
    consolidation,
    context,
    core_memory,
    diary,
    documents,
    face,
    forget_proposals,
    forgetting,
    goals,
    life,
    memories,
    mind,
    model_change,
    revisions,
    talk,
    threads,
    timers,
)
from memory.models import Revision

memory_patterns: list[URLPattern | URLResolver] = [
    path("", memories.memory, name="memory"),
    path("edit/", memories.edit, name="memory_edit"),
    path("pin/", memories.pin, name="memory_pin"),
    path("private/", memories.keep_from_models, name="memory_private"),
    path("restore/", memories.restore, name="memory_restore"),
    path("delete/", memories.delete, name="memory_delete"),
]


def revision_patterns(name: str, about: Revision.About) -> list[URLPattern | URLResolver]:
    """The pages of one of the two texts that a companion has in revisions."""
    kwargs = {"about": about}
    return [
        path("", revisions.revision, kwargs, name=name),
        path("edit/", revisions.edit, kwargs, name=f"{name}_edit"),
        path("compare/", revisions.compare_revisions, kwargs, name=f"{name}_compare"),
        path("<int:number>/restore/", revisions.restore, kwargs, name=f"{name}_restore"),
    ]


companion_patterns: list[URLPattern | URLResolver] = [
    path("", talk.talk, name="talk"),
    path("read/", talk.read, name="read"),
    path("gauge/", talk.gauge, name="gauge"),
    path("turns/", talk.turn_list, name="turns"),
    path("turns/<uuid:message_id>/", talk.turn, name="turn"),
    path("replies/<uuid:reply_id>/retry/", talk.retry, name="reply_retry"),
    path("replies/<uuid:reply_id>/continue/", talk.go_on, name="reply_continue"),
    path("replies/<uuid:reply_id>/decide/", talk.retry_otherwise, name="reply_decide"),
    path("mind/decide/", model_change.decide_model, name="model_decide"),
    path("mind/comparison/", model_change.show_comparison, name="comparison"),
    path("mind/comparison/delete/", model_change.delete_comparison, name="comparison_delete"),
    path("messages/<uuid:message_id>/delete/", talk.delete_message, name="message_delete"),
    path(
        "forget-proposals/<uuid:proposal_id>/confirm/",
        forget_proposals.confirm_proposal,
        name="forget_confirm",
    ),
    path(
        "forget-proposals/<uuid:proposal_id>/decline/",
        forget_proposals.decline_proposal,
        name="forget_decline",
    ),
    path("forgetting/", forgetting.forgetting, name="forgetting"),
    path("always/", core_memory.always, name="always"),
    path("always/slots/add/", core_memory.add_slot, name="slot_add"),
    path("always/slots/<int:slot_id>/", core_memory.slot, name="slot"),
    path("always/slots/<int:slot_id>/delete/", core_memory.remove_slot, name="slot_delete"),
    path("always/blocks/add/", core_memory.add_block, name="block_add"),
    path("always/blocks/<int:block_id>/", core_memory.block, name="block"),
    path("always/blocks/<int:block_id>/delete/", core_memory.remove_block, name="block_delete"),
    path("documents/", documents.list_documents, name="documents"),
    path("documents/give/", documents.give, name="document_give"),
    path("documents/<uuid:document_id>/", documents.document, name="document"),
    path("documents/<uuid:document_id>/delete/", documents.delete, name="document_delete"),
    path("nights/", consolidation.nights, name="nights"),
    path("nights/changes/<uuid:change_id>/undo/", consolidation.undo, name="change_undo"),
    path("nights/changes/<uuid:change_id>/settle/", consolidation.settle, name="change_settle"),
    path("diary/", diary.diary, name="diary"),
    path("diary/closing/", diary.closing, name="closing"),
    path("diary/end/", diary.end_session, name="session_end"),
    path("diary/clear/", diary.clear_session, name="session_clear"),
    path("diary/<uuid:entry_id>/", diary.entry, name="diary_entry"),
    path("diary/<uuid:entry_id>/said/", diary.said, name="diary_said"),
    path("diary/<uuid:entry_id>/delete/", diary.delete, name="diary_delete"),
    path("profile/", include(revision_patterns("profile", Revision.About.USER_PROFILE))),
    path("self-concept/", include(revision_patterns("self_concept", Revision.About.SELF_CONCEPT))),
    path("memories/", memories.memories, name="memories"),
    path("memories/add/", memories.add, name="memory_add"),
    path("memories/delete/", memories.delete_many, name="memories_delete"),
    path("memories/<uuid:memory_id>/", include(memory_patterns)),
    path("life/", life.life, name="life"),
    path("life/settings/", life.settings, name="life_settings"),
    path("life/mute/", life.mute, name="life_mute"),
    path("life/inner-state/", life.inner_states, name="inner_states"),
    path("life/wakings/<uuid:waking_id>/cancel/", life.cancel_waking, name="waking_cancel"),
    path("timers/", timers.timers, name="timers"),
    path("timers/preview/", timers.preview, name="timer_preview"),
    path("timers/add/", timers.add, name="timer_add"),
    path("timers/<uuid:timer_id>/cancel/", timers.cancel, name="timer_cancel"),
    path("timers/<uuid:timer_id>/fire/", timers.fire, name="timer_fire"),
    path("timers/<uuid:timer_id>/again/", timers.restart, name="timer_again"),
    path("pursuits/", goals.pursuits, name="pursuits"),
    path("pursuits/<uuid:pursuit_id>/", goals.change, name="pursuit_change"),
    path("threads/<uuid:thread_id>/", threads.change, name="thread_change"),
    path("mind/", mind.mind, name="mind"),
    path("mind/manner/", mind.choose_preset, name="mind_preset"),
    path("mind/values/", mind.keep_values, name="mind_values"),
    path("mind/preset-file/", mind.read_file, name="mind_preset_file"),
    path("face/", face.face, name="face"),
    path("face/preview/", face.preview, name="face_preview"),
    path("face/image/", face.image, name="face_image"),
    path("face/pictures/", face.add_picture, name="face_pictures"),
    path("face/pictures/<slug:emotion>/remove/", face.remove_picture, name="face_picture_remove"),
    path("settings/", companions.edit, name="companion"),
    path("settings/context/", context.context, name="context"),
    path("settings/export/", companions.export, name="companion_export"),
    path(
        "settings/export/digital-life/", companions.export_digital_life, name="companion_export_digital_life"
    ),
    path("settings/delete/", companions.delete, name="companion_delete"),
    path("settings/rehearsals/", companions.delete_rehearsals, name="rehearsals_delete"),
]
urlpatterns = [
    path("", companions.welcome, name="welcome"),
    path("language/", set_language, name="set_language"),
    path("notices/<uuid:notice_id>/seen/", talk.see_notice, name="notice_seen"),
    path("companions/", companions.companions, name="companions"),
    path("companions/new/", companions.new, name="companion_new"),
    path("companions/new/digital-life/", companions.move_in, name="companion_move_in"),
    path("companions/<uuid:companion_id>/", include(companion_patterns)),
]
