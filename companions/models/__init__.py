from companions.models.archive_upload import ArchiveUpload
from companions.models.attachment import Attachment
from companions.models.bookmark import Bookmark
from companions.models.branch import Branch, JournalEntry
from companions.models.card import Card, CardUpload
from companions.models.character_version import CharacterVersion
from companions.models.closing import Closing
from companions.models.companion import Companion
from companions.models.comparison import ComparedExchange, Comparison
from companions.models.conversation import Conversation, Session
from companions.models.delivery import Delivery
from companions.models.forget_proposal import ForgetProposal
from companions.models.gallery import GalleryCharacter, GalleryReport, GalleryVersion, ReportedVersion
from companions.models.inner_state import InnerState
from companions.models.job import Job
from companions.models.life import Life
from companions.models.lorebook import Lorebook, LoreEntry, LoreFiring
from companions.models.message import Message
from companions.models.message_words import MessageWords
from companions.models.mind import Mind
from companions.models.past import PastImport, PastUpload
from companions.models.portrait import Picture, Portrait
from companions.models.prompt import Prompt
from companions.models.reply import Reply
from companions.models.timer import Timer
from companions.models.waking import Waking

__all__ = [
    "ArchiveUpload",
    "Attachment",
    "Bookmark",
    "Branch",
    "Card",
    "CardUpload",
    "CharacterVersion",
    "Closing",
    "Companion",
    "ComparedExchange",
    "Comparison",
    "Conversation",
    "Delivery",
    "ForgetProposal",
    "GalleryCharacter",
    "GalleryReport",
    "GalleryVersion",
    "InnerState",
    "Job",
    "JournalEntry",
    "Life",
    "LoreEntry",
    "LoreFiring",
    "Lorebook",
    "Message",
    "MessageWords",
    "Mind",
    "PastImport",
    "PastUpload",
    "Picture",
    "Portrait",
    "Prompt",
    "Reply",
    "ReportedVersion",
    "Session",
    "Timer",
    "Waking",
]
