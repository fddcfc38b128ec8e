from companions.models.closing import Closing
from companions.models.companion import Companion
from companions.models.conversation import Conversation, Session
from companions.models.job import Job
from companions.models.message import Message
from companions.models.prompt import Prompt
from companions.models.reply import Reply

__all__ = ["Closing", "Companion", "Conversation", "Job", "Message", "Prompt", "Reply", "Session"]
