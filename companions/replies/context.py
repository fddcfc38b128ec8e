"""The context of a turn: what its prompt is made from, loaded before the model is asked and recorded as it is sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import attrgetter
from random import Random
from time import perf_counter
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction

from accounts.limits.usage import Payer, allowance
from accounts.models import ModelCall
from companions import tools
from companions.conversations.attached_texts import AttachedText, load_texts
from companions.conversations.messages import Spoken, load_path, load_spoken
from companions.life.inner_state import load_session_mood
from companions.lore.rules.scan import Placed
from companions.lore.turn import find_lore, keep_firings
from companions.minds.choice import (
    choose_provider,
    compute_sampling,
    find_stand_ins,
    get_current_provider,
    get_mind,
)
from companions.models import Companion, Message, Prompt, Reply, Session
from companions.prompting import budgets
from companions.prompting.history import Line, align_window, choose_newest, without_unsent
from companions.prompting.moment import Moment, load_moment
from companions.prompting.persona import Persona
from companions.prompting.pinned_context import NOTHING_PINNED, PinnedContext, load_pinned_context
from companions.prompting.turn_prompt import PromptParts, choose_memories, render_prompt
from companions.replies.lifecycle import hold_reply
from memory.embedding import embed_cue
from memory.embedding.spaces import CueVector
from memory.language import pattern_of
from memory.models import Recall
from memory.recall.candidates import MemoryFilter
from memory.recall.flashbacks import find_flashback, is_flashback_due
from memory.recall.origins import NOWHERE, Origins, add_holding, drop_repetitions, load_origins
from memory.recall.query import is_follow_up, split_cue
from memory.recall.recall import Found, LeftOut, recall, record
from memory.recall.traits import is_small_talk
from providers.chat.adaptation import merge_roles
from providers.chat_provider import ChatProvider
from providers.errors import AllowanceSpent
from providers.tokens import neutralise_messages
from text.strings import folded, quoted

TELLS_NAME, PROFILE_NAME = pattern_of("tells_own_name"), pattern_of("profile_name")
MAX_HISTORY_MESSAGES = 400
MOVED_ON_TURNS = 6  # after so many turns of a session, an inner state from before it is out of date
SPARE_MEMORIES = 4  # recalled beyond the limit, since repetitions are dropped
TEXT_MESSAGES = 6  # before the newest one: texts attached to these are still shown
MIN_PAGE_TOKENS = 200  # of a document's page, but for the last one
CUE_LINES = 4  # two exchanges before a follow-up message that may be part of its cue
CUE_LINE_CHARACTERS = 300  # the beginning of each


@dataclass(slots=True)
class TurnContext:
    """A reply that is being generated, with what its prompt is made from.

    `recalled` are the memories found, with their `origins`; `excluded_ids` are memories that are not searched, since
    the prompt shows them anyway. `shown_ids` are the ids of all that the prompt shows, verbatim or retold: messages in
    full (`verbatim_ids`; those of `cut_ids` in part), messages told by the summary (`summarised_ids`), memories, threads
    and timers.
    `provider` answers in all rounds, with this `sampling`. If it fails before it says anything, one of `stand_ins`
    answers, each with another model. `mood` is between -1 and 1. `files` are the names of the message's attachments,
    each with whether it is a picture; `texts` are those attached to it or to one of the last messages.
    """

    reply: Reply
    companion: Companion = field(init=False)
    message: Message = field(init=False)
    provider: ChatProvider = field(init=False)
    stand_ins: Sequence[ChatProvider] = ()
    sampling: Mapping[str, Any] = field(default_factory=dict)
    history: list[Spoken] = field(default_factory=list)
    summary: str = ""
    summarised_ids: list[UUID] = field(default_factory=list)
    recalled: list[Found] = field(default_factory=list)
    origins: Origins = NOWHERE
    prompt: list[Line] = field(default_factory=list)
    shown_ids: set[UUID] = field(default_factory=set)
    quote: Mapping[str, str] | None = None
    persona: Persona = field(init=False)
    pinned: PinnedContext = NOTHING_PINNED
    moment: Moment = field(init=False)
    excluded_ids: set[UUID] = field(default_factory=set)
    cut_ids: set[UUID] = field(default_factory=set)
    left_out: list[LeftOut] = field(default_factory=list)
    mood: float = 0.0
    files: Sequence[tuple[str, bool]] = ()
    texts: Sequence[AttachedText] = ()
    waking: None = None
    call_id: None = None

    def __post_init__(self) -> None:
        self.companion, self.message = self.reply.companion, self.reply.message
        self.provider = get_current_provider(self.companion)

    @property
    def whose(self) -> str:
        """Return the key under which `accounts.limits.admission` counts the person."""
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
    def parts(self) -> PromptParts:
        """Return what the turn's prompt is made of, except the history."""
        return PromptParts(
            persona=self.persona,
            message=self.message,
            reply=self.reply,
            pinned=self.pinned,
            summary=self.summary,
            moment=self.moment,
            quote=self.quote,
            files=self.files,
            texts=self.texts,
            recalled=self.recalled,
            origins=self.origins,
            tool_tokens=self.offered_tokens,
        )

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


def embed_message(turn: TurnContext) -> tuple[str, CueVector | None]:
    """Return the cue for memory's recall and its embedding. Makes one request to the embedder, so hold no transaction.

    The cue is the message's text, after what it quotes and, for a follow-up, the exchange before it (one query); the
    exchange before that is included, too, if the person's message there is a follow-up as well. Small talk is left out.
    """
    message, names = turn.message, turn.companion.names
    quoted = message.quoted
    said = [quoted.text[:CUE_LINE_CHARACTERS]] if quoted and not quoted.is_hidden else []
    leans = is_follow_up(message.text, names)
    for line in load_path(message.conversation, message.parent_id, CUE_LINES) if leans else ():
        if line.is_hidden or is_small_talk(line.text):
            continue
        said.append(line.text[:CUE_LINE_CHARACTERS])
        if line.role == Message.Role.USER and not is_follow_up(line.text, names):
            break
    cue = "\n".join([*reversed(said), message.text])
    return cue, embed_cue(cue, turn.payer, names, split_cue(message.text))


@transaction.atomic
def prepare(turn: TurnContext, cue: str, vector: CueVector | None, now: datetime) -> ModelCall:
    """Load, recall, compose, and record the first call, in one transaction, so that nothing is deleted in between.

    Raise LostOwnershipError, ModelMissing if no provider may answer, and AllowanceSpent if the operator's would answer
    and the person has no tokens left (spent by an earlier answer, or they had a provider of their own as it came in).
    """
    reply = turn.reply
    begun_by = reply.continues.model if reply.continues else ""
    turn.provider, reply.is_stand_in = choose_provider(turn.companion, begun_by)
    if not turn.provider.is_own and allowance(turn.companion.user, now).tokens_left == 0:
        raise AllowanceSpent("The person has no tokens left today")
    others = [] if turn.provider.is_own else find_stand_ins(turn.companion)
    turn.stand_ins = [other for other in others if other.model != turn.provider.model]
    turn.sampling = compute_sampling(get_mind(turn.companion))
    reply.model = turn.provider.model
    load_context(turn, now)
    recall_memories(turn, cue, vector, now)
    compose(turn)
    return save_call(turn, 1, now)


def prepare_stand_in(turn: TurnContext, provider: ChatProvider, now: datetime) -> ModelCall:
    """Compose the prompt anew for a stand-in's model, and record its call.

    Call it within a preference for that model. Raise LostOwnershipError.
    """
    with transaction.atomic():
        turn.provider, turn.reply.model, turn.reply.is_stand_in = provider, provider.model, True
        load_context(turn, now)
        compose(turn)
        return save_call(turn, 1, now)


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
    message_ids = [spoken.pk for spoken in (said[0], *visible[:TEXT_MESSAGES]) if _has_text(spoken)]
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


def _has_text(spoken: Spoken) -> bool:
    return any(not is_picture for _name, is_picture in spoken.files)


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
        turn.history = choose_history(session, visible, turn.parts.history_tokens, has_more=has_more)
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


def recall_memories(turn: TurnContext, cue: str, vector: CueVector | None, now: datetime) -> None:
    """Recall memories for this turn, and record them with the message's text.

    The lines that the cue adds to the text are not recorded: the prompt has them, and they would outlast deletion.
    """
    began = perf_counter()
    find_memories(turn, cue, vector, now)
    milliseconds = round((perf_counter() - began) * 1000)
    record(
        turn.companion.pk,
        Recall.By.TURN,
        turn.message.text,
        turn.recalled,
        now,
        milliseconds,
        reply_id=turn.reply.pk,
        policy=turn.companion.recall_policy,
        left_out=turn.left_out,
    )


def find_memories(turn: TurnContext, cue: str, vector: CueVector | None, now: datetime) -> None:
    """Find the memories that bear on the turn's message and are not in its prompt already, and those that nearly came.

    Only reads.
    """
    companion, text = turn.companion, turn.message.text
    turn.left_out = []
    found = recall(
        companion.pk,
        cue,
        settings.RECALL_LIMIT + SPARE_MEMORIES,
        now=now,
        zone=companion.user.zone,
        vector=vector,
        names=companion.names,
        policy=companion.policy,
        mood=turn.mood,
        filters=MemoryFilter(leaving_out_memories=turn.excluded_ids),
        by_itself=True,
        parts=split_cue(text),
        left_out=turn.left_out,
    )
    recalled = [hit for hit in found if folded(hit.memory.text) != folded(text)]
    _leave_out(turn, Recall.Omission.REPETITION, found, recalled, turn.message.pk)
    if cue != text:
        recalled = [replace(hit, reasons={**hit.reasons, "with_talk": True}) for hit in recalled]
    flashbacks = _draw_flashback(turn, recalled, now)
    turn.origins = load_origins(companion.pk, [found.memory for found in (*recalled, *flashbacks)])
    with_holding = add_holding(companion.pk, recalled, turn.origins, turn.excluded_ids)
    if len(with_holding) > len(recalled):
        recalled = with_holding
        turn.origins = load_origins(companion.pk, [found.memory for found in (*recalled, *flashbacks)])
    sent = turn.parts.render_system()
    pinned = [text for text in turn.pinned.texts if quoted(text)[1:-1] in sent]  # those that fit
    whole_ids = {*turn.verbatim_ids} - turn.cut_ids
    recalled, repeated = drop_repetitions(recalled, turn.origins, whole_ids, pinned)
    turn.left_out += repeated
    first = [*recalled[: settings.RECALL_LIMIT], *flashbacks]
    _leave_out(turn, Recall.Omission.RANK, recalled, first)
    turn.recalled = choose_memories(first, companion, turn.pinned, now, turn.origins)
    _leave_out(turn, Recall.Omission.ROOM, first, turn.recalled)
    # A flashback may have brought what had too little to do with the message.
    came = {hit.memory.pk for hit in turn.recalled}
    turn.left_out = [omission for omission in turn.left_out if omission.memory_id not in came]


def _leave_out(
    turn: TurnContext, reason: Recall.Omission, found: Sequence[Found], kept: Sequence[Found], *repeats: UUID
) -> None:
    """Note of the found memories that were not kept that they were left out, and why."""
    kept_ids = {hit.memory.pk for hit in kept}
    dropped = [hit.memory.pk for hit in found if hit.memory.pk not in kept_ids]
    turn.left_out += [LeftOut(id, reason, repeats=repeats) for id in dropped]


def _draw_flashback(turn: TurnContext, recalled: Sequence[Found], now: datetime) -> list[Found]:
    """Return a flashback, or [] in most turns. The reply's id is the random seed, so a repeated call gives the same."""
    chance = Random(turn.reply.pk.int)  # noqa: S311 (nothing secret hangs on it)
    if not is_flashback_due(chance, settings.FLASHBACK_PROBABILITY):
        return []
    excluded = [*turn.excluded_ids, *(found.memory.pk for found in recalled)]
    found = find_flashback(turn.companion.pk, MemoryFilter(leaving_out_memories=excluded), chance, now)
    return [found] if found else []


def compose(turn: TurnContext) -> None:
    """Render the prompt from what was loaded and recalled."""
    # An unanswered message, or a card's note, may be followed by a message of the same role.
    turn.prompt = merge_roles(render_prompt(turn.parts, turn.history))
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


def get_round_offers(turn: TurnContext, round: int) -> list[dict[str, Any]]:
    """Return the tools that the model is offered in the round: none in the last, in which it has to answer."""
    return turn.offers if round < settings.TOOL_ROUNDS else []


@transaction.atomic
def record_call(turn: TurnContext, round: int, now: datetime) -> ModelCall:
    """Lock the reply's companion, and record a request to the model. Raise LostOwnershipError."""
    hold_reply(turn.reply)
    return save_call(turn, round, now)


def save_call(turn: TurnContext, round: int, now: datetime) -> ModelCall:
    """Record a request to the model before it is made: its prompt and a ModelCall. Call it with the reply held."""
    prompt = Prompt(
        reply=turn.reply,
        round=round,
        companion=turn.companion,
        messages=neutralise_messages(turn.prompt),
        tools=get_round_offers(turn, round),
        shown=sorted(turn.shown_ids, key=attrgetter("int")),
        created_at=now,
    )
    asked = ["messages", "tools", "shown", "created_at"]  # what a second request of the round replaces
    Prompt.objects.bulk_create(
        [prompt], update_conflicts=True, unique_fields=["reply", "round"], update_fields=asked
    )
    return ModelCall.objects.create(
        user=turn.companion.user,
        companion=turn.companion,
        reply=turn.reply,
        purpose=ModelCall.Purpose.ANSWER,
        provider=turn.provider.place,
        model=turn.provider.model,
        started_at=now,
    )
