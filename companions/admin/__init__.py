"""Companions and what is said with them, for operators: read only but for deletion, all on record."""

from companions.admin.closing import ClosingAdmin
from companions.admin.companion import CompanionAdmin, JobAdmin
from companions.admin.conversation import ConversationAdmin, SessionAdmin
from companions.admin.feeling import DeliveryAdmin, InnerStateAdmin, LifeAdmin
from companions.admin.life import TimerAdmin, WakingAdmin
from companions.admin.memory import ErasableMemoryAdmin
from companions.admin.message import MessageAdmin
from companions.admin.portrait import PictureAdmin, PortraitAdmin
from companions.admin.reply import PromptAdmin, ReplyAdmin

__all__ = [
    "ClosingAdmin",
    "CompanionAdmin",
    "ConversationAdmin",
    "DeliveryAdmin",
    "ErasableMemoryAdmin",
    "InnerStateAdmin",
    "JobAdmin",
    "LifeAdmin",
    "MessageAdmin",
    "PictureAdmin",
    "PortraitAdmin",
    "PromptAdmin",
    "ReplyAdmin",
    "SessionAdmin",
    "TimerAdmin",
    "WakingAdmin",
]
