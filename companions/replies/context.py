"""The context of a turn: what its prompt is made from, loaded before the model is asked and recorded as it is sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.limits.usage import Payer
from companions import tools
from companions.conversations.attached_texts import load_texts
from companions.conversations.messages import Spoken, load_spoken
from companions.life.inner_state import load_session_mood
from companions.lore.rules.scan import Placed
from companions.lore.turn import find_lore, keep_firings
from companions.minds.choice import (
    get_current_provider,
)
from companions.models import Companion, Message, Prompt, Reply, Session
from companions.prompting import budgets
from companions.prompting.history import Line, align_window, choose_newest, without_unsent
from companions.prompting.moment import Moment, load_moment
from companions.prompting.persona import Persona
from companions.prompting.pinned_context import load_pinned_context
from companions.prompting.turn_prompt import PromptParts, render_prompt
from companions.replies.lifecycle import hold_reply
from memory.language import pattern_of
from memory.recall.recall import Found, LeftOut
from providers.chat.adaptation import merge_roles
from providers.chat_provider import ChatProvider

TELLS_NAME, PROFILE_NAME = pattern_of("tells_own_name"), pattern_of("profile_name")
MAX_HISTORY_MESSAGES = 400
MOVED_ON_TURNS = 6  # after so many turns of a session, an inner state from before it is out of date
TEXT_MESSAGES = 6  # before the newest one: texts attached to these are still shown
MIN_PAGE_TOKENS = 200  # of a document's page, but for the last one


@dataclass(slots=True)
class TurnContext(PromptParts):
    """A reply that is being generated, with what its prompt is made from.

    `excluded_ids` are memories that are not searched, since the prompt shows them anyway. `shown_ids` are the ids of all
    that the prompt shows, verbatim or retold: messages in full (`verbatim_ids`; those of `cut_ids` in part), messages
    told by the summary (`summarised_ids`), memories, threads and timers.
    `provider` answers in all rounds, with this `sampling`. If it fails before it says anything, one of `stand_ins`
    answers, each with another model. `mood` is between -1 and 1. Tools add to `recalled`.
    """

    reply: Reply
    message: Message = field(init=False)
    persona: Persona = field(init=False)
    moment: Moment = field(init=False)
    tool_tokens: int = field(init=False)
    recalled: list[Found] = field(default_factory=list)
    companion: Companion = field(init=False)
    provider: ChatProvider = field(init=False)
    stand_ins: Sequence[ChatProvider] = ()
    sampling: Mapping[str, Any] = field(default_factory=dict)
    history: list[Spoken] = field(default_factory=list)
    summarised_ids: list[UUID] = field(default_factory=list)
    prompt: list[Line] = field(default_factory=list)
    shown_ids: set[UUID] = field(default_factory=set)
    excluded_ids: set[UUID] = field(default_factory=set)
    cut_ids: set[UUID] = field(default_factory=set)
    left_out: list[LeftOut] = field(default_factory=list)
    mood: float = 0.0
    waking: None = None  # a turn is none; ToolContext names both
    call_id: None = None

    def __post_init__(self) -> None:
        self.companion, self.message = self.reply.companion, self.reply.message
        self.provider = get_current_provider(self.companion)

    @property
    def whose(self) -> str:
        """Return the key under which `accounts.limits.places` counts the person."""
        return f"user:{self.companion.user_id}"

    @property
    def person(self) -> str:
        """Return the person's name: their account's, or one stated by them or their profile; empty if there is none."""
        if self.companion.user.name:
            return self.companion.user.name
        said = [message.text for message in self.history if message.role == Message.Role.USER]
        profile = self.pinned.profile
        matches = [
            *map(TELLS_NAME.search, [self.message.text, *reversed(said), *profile]),
            *map(PROFILE_NAME.search, profile),
        ]
        names = (match[match.lastindex or 0] for match in matches if match)
        return next(names, "")

    @property
    def verbatim_ids(self) -> list[UUID]:
        """Return the ids of the messages that the prompt shows verbatim or quotes."""
        quotes = filter(None, (self.quote, *(said.quoted for said in self.history)))
        return [
            self.message.pk,
            *(said.pk for said in self.history),
            *(UUID(quote["id"]) for quote in quotes),
        ]

    @property
    def offers(self) -> list[dict[str, Any]]:
        """Return the tools that are offered in the message's session by now."""
        return tools.get_offers(self.message.session.tool_groups)

    @property
    def offered_tokens(self) -> int:
        """Return how many tokens the tools take that are offered by now; the prompt left room for `tool_tokens`."""
        return tools.count_offered_tokens(self.message.session.tool_groups)

    @property
    def payer(self) -> Payer:
        return Payer(self.companion.user_id, self.companion.pk, self.reply.pk)

    @property
    def reply_id(self) -> UUID:
        return self.reply.pk

    @property
    def causes(self) -> list[Message]:
        """Return the messages that the turn acts upon."""
        return [self.message]

    def hold(self) -> None:
        """Lock the companion until the transaction ends; raise LostOwnershipError if this process lost the reply."""
        hold_reply(self.reply)


def load_context(turn: TurnContext, now: datetime) -> None:
    """Lock the reply's companion, save which model answers, and load all that the prompt needs except what is recalled.

    Most of it is the history: the session's messages that are sent and fit into the prompt, oldest first. If some are
    left out, the session's current summary is loaded for them. Raise LostOwnershipError.
    """
    companion, message, reply = turn.companion, turn.message, turn.reply
    hold_reply(reply, model=reply.model, is_stand_in=reply.is_stand_in)
    # If the message's session ended meanwhile, the message was moved to the next one.
    session = message.session = Session.objects.get(messages=message.pk)
    said = load_spoken(message, MAX_HISTORY_MESSAGES + 1)
    visible = [spoken for spoken in said[1:] if not spoken.is_hidden]
    turn.quote, turn.files = said[0].quoted, said[0].files
    message_ids = [
        spoken.pk
        for spoken in (said[0], *visible[:TEXT_MESSAGES])
        if any(not is_picture for _name, is_picture in spoken.files)
    ]
    most_pages = budgets.share(budgets.ATTACHED_TEXTS) // MIN_PAGE_TOKENS + 1
    turn.texts = load_texts(companion.pk, message_ids, most_pages) if message_ids else ()
    talk = [(spoken.role, spoken.text) for spoken in (*visible[::-1], said[0])]
    lore = find_lore(companion, message, talk, seed=reply.pk.int)
    keep_firings(reply, message, lore)
    load_talk(turn, session, visible, lore.placed, now, has_more=len(said) > MAX_HISTORY_MESSAGES)
    turn.mood = load_session_mood(session.pk, turn.pinned.inner_state, now, except_message=message.pk)
    turn.excluded_ids = {spoken.memory_id for spoken in (said[0], *turn.history) if spoken.memory_id}
    turn.excluded_ids |= {thread.memory_id for thread in turn.moment.threads}
    if turn.moment.last_time and (told_id := turn.moment.last_time.told_memory_id):
        turn.excluded_ids.add(told_id)


def load_talk(
    turn: TurnContext,
    session: Session,
    visible: Sequence[Spoken],
    lore: Sequence[Placed],
    now: datetime,
    *,
    has_more: bool = False,
) -> None:
    """Load the moment, the pinned context, and as much of the `visible` messages (newest first) as fits. Only reads."""
    companion, user_turns = turn.companion, sum(spoken.role == Message.Role.USER for spoken in visible)
    turn.tool_tokens = turn.offered_tokens
    turn.moment = load_moment(companion, session, turn.message, visible, now)
    pinned = load_pinned_context(companion.pk)
    state = pinned.inner_state
    turn.pinned = replace(
        pinned,
        scratch=session.scratch,
        pressure=session.pressure,
        has_moved_on=bool(state and state.made_at < session.started_at and user_turns >= MOVED_ON_TURNS),
    )
    turn.summary = session.summary
    for has_examples in (True, False):  # the example dialogue is the first to go if the history does not fit
        turn.persona = Persona(
            companion=companion,
            lore=lore,
            now=turn.moment.times.now,
            seed=turn.reply.pk.int,
            has_examples=has_examples,
        )
        turn.history = choose_history(session, visible, turn.history_tokens, has_more=has_more)
        if turn.history == [*visible[::-1]] or not companion.example_dialogue:
            break
    whole = {spoken.pk: spoken.text for spoken in visible}
    turn.cut_ids = {said.pk for said in turn.history if said.text != whole[said.pk]}
    turn.summarised_ids = [spoken.pk for spoken in visible[len(turn.history) :]]
    turn.summary = session.summary if turn.summarised_ids else ""


def choose_history(
    session: Session, visible: Sequence[Spoken], tokens: int, *, has_more: bool
) -> list[Spoken]:
    """Return, oldest first, the `visible` messages (newest first) that are sent and fit into this many tokens; a long one
    that does not is cut.
    """
    count, unsent = len(visible), session.unsent
    if has_more:
        count = Message.objects.filter(session=session, is_hidden=False).count() - 1
        unsent -= count - len(visible)
    sendable = without_unsent(visible[::-1], max(unsent, 0))[::-1]
    return align_window(choose_newest(sendable, tokens, budgets.share(budgets.LONG_MESSAGE)), count)


def compose(turn: TurnContext) -> None:
    """Render the prompt from what was loaded and recalled."""
    # An unanswered message, or a card's note, may be followed by a message of the same role.
    turn.prompt = merge_roles(render_prompt(turn, turn.history))
    turn.shown_ids = {*turn.verbatim_ids, *(found.memory.pk for found in turn.recalled)}
    turn.shown_ids |= {*turn.summarised_ids, *turn.pinned.sources, *turn.moment.ids}
    turn.shown_ids |= load_shown_before(turn.history).union(*(attached.ids for attached in turn.texts))


def load_shown_before(history: Sequence[Spoken]) -> set[UUID]:
    """Return the ids of all that was shown to the history's answers that called tools: the calls may quote it."""
    called = [said.pk for said in history if said.calls]
    prompts = (
        Prompt.objects.filter(reply__answer__in=called).values_list("shown", flat=True) if called else ()
    )
    return {id for shown in prompts for id in shown}
