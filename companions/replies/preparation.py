"""The preparation of a turn: embed its message, load its context, recall memories, compose and record its prompt."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from random import Random
from time import perf_counter
from uuid import UUID

from django.conf import settings
from django.db import transaction

from accounts.limits.usage import load_allowance
from accounts.models import ModelCall
from companions.conversations.messages import load_path
from companions.minds.choice import choose_provider, compute_sampling, find_stand_ins, get_mind
from companions.models import Message
from companions.prompting.turn_prompt import choose_memories
from companions.replies.context import TurnContext, compose, load_context
from companions.replies.model_calls import save_call
from memory.embedding import embed_cue
from memory.embedding.spaces import CueVector
from memory.models import Recall
from memory.recall.candidates import MemoryFilter
from memory.recall.flashbacks import find_flashback, is_flashback_due
from memory.recall.origins import add_holding, drop_repetitions, load_origins
from memory.recall.query import is_follow_up, split_cue
from memory.recall.recall import Found, LeftOut, recall, record
from memory.recall.traits import is_small_talk
from providers.chat_provider import ChatProvider
from providers.errors import AllowanceSpent
from text.strings import folded, quoted

SPARE_MEMORIES = 4  # recalled beyond the limit, since repetitions are dropped
CUE_LINES = 4  # two exchanges before a follow-up message that may be part of its cue
CUE_LINE_CHARACTERS = 300  # the beginning of each


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
    if not turn.provider.is_own and load_allowance(turn.companion.user, now).tokens_left == 0:
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
    shown = {*turn.excluded_ids, *(found.memory.pk for found in flashbacks)}
    with_holding = add_holding(companion.pk, recalled, turn.origins, shown)
    if len(with_holding) > len(recalled):
        recalled = with_holding
        turn.origins = load_origins(companion.pk, [found.memory for found in (*recalled, *flashbacks)])
    sent = turn.render_system()
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
