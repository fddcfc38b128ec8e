"""A try-out of a character: what its model would answer to one sentence, with texts that need not be saved.

The prompt is that of a conversation just after the greeting: with the rules, the lore that the sentence activates, the
pinned context, and the memories that the sentence recalls. No tools are offered. Nothing is saved except the cost of
the calls: not even the recall is recorded.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from django.conf import settings
from django.utils.translation import gettext as _

from accounts.limits.rates import admit_to
from accounts.limits.usage import admit
from accounts.models import ModelCall
from companions.answers.cleaner import AnswerCleaner
from companions.answers.emotion_tags import Felt
from companions.answers.lines import Names
from companions.conversations.messages import Spoken, check_text
from companions.conversations.transcript import choose_bearing
from companions.lore.turn import find_lore
from companions.minds.choice import choose_provider, compute_sampling, get_mind
from companions.models import Companion, Message, Reply, Session
from companions.prompting.history import Line
from companions.prompting.moment import Moment, load_times
from companions.prompting.persona import Persona
from companions.prompting.pinned_context import load_pinned_context
from companions.prompting.turn_prompt import render_prompt
from companions.replies.context import TurnContext
from companions.replies.model_calls import Meter, record_end
from companions.replies.preparation import find_memories
from companions.tools.registry import TOOLS
from jobs.background import in_thread_with_retry
from jobs.lease import Clock
from memory.embedding import embed_cue
from memory.models import Recall, Recalled
from memory.recall.query import split_cue
from memory.recall.recall import Found
from providers.availability import note_pause, note_talks
from providers.chat.adaptation import merge_roles
from providers.chat.events import Piece, Retracted, Thought, Truncated, Usage
from providers.chat.fallback import ProviderChosen, stream_with_fallback
from providers.chat.sampling import Sampling
from providers.chat_provider import ChatProvider
from providers.errors import EmptyAnswer, ProviderError
from providers.selection import find_fallbacks, preferring
from text.strings import storable

SLOT_SECONDS = 60.0  # how long background work leaves a slot of the model server to the try-out


@dataclass(frozen=True, slots=True)
class Trial:
    """A prompt and the providers to ask, all with the same model. `found` are the recalled memories."""

    companion: Companion
    prompt: Sequence[Line]
    found: Sequence[Found]
    providers: Sequence[ChatProvider]
    sampling: Sampling

    def list_recalled(self, answer: str) -> list[Recalled]:
        """Return the recalled memories that bear on the answer, as unsaved rows."""
        recall = Recall(companion=self.companion, by=Recall.By.TURN)
        rows = [
            Recalled(recall=recall, memory=hit.memory, score=hit.score, reasons=hit.reasons)
            for hit in self.found
        ]
        return choose_bearing(rows, answer)


def begin_trial(companion: Companion, text: str, now: datetime) -> Trial:
    """Return a try-out of the companion's texts as they are on the instance; saves none of them.

    Raise TextError, ModelMissing, and GateError if the person asked too often or has no tokens left.
    """
    check_text(text)
    admit_to(companion.user, "trials", now)
    with preferring(companion.preference):
        provider, _is_stand_in = choose_provider(companion)
        admit(companion.user, recent_messages=0, now=now, is_own=provider.is_own)
        prompt, found = compose_trial(companion, text, now)
        return Trial(
            companion,
            prompt,
            found,
            [provider, *find_fallbacks(provider)],
            Sampling.for_talk([companion.names["user"]], compute_sampling(get_mind(companion))),
        )


def compose_trial(companion: Companion, text: str, now: datetime) -> tuple[list[Line], Sequence[Found]]:
    """Return the prompt of a conversation in which `text` is the first answer to the greeting, and the memories that it
    recalls.
    """
    session = Session(companion=companion, conversation=companion.conversation, started_at=now)
    message = Message(companion=companion, session=session, role=Message.Role.USER, text=text, said_at=now)
    reply = Reply(companion=companion, message=message)
    seed, local = reply.pk.int, now.astimezone(companion.user.zone)
    greeting = companion.expand(companion.greeting, nameless=_("you"), now=local, seed=seed).strip()
    history = [Spoken(uuid4(), Message.Role.ASSISTANT, greeting, False, None, now)] if greeting else []
    talk = [*((said.role, said.text) for said in history), (Message.Role.USER, text)]
    turn = TurnContext(reply)
    turn.history, turn.pinned = history, load_pinned_context(companion.pk)
    turn.tool_tokens = turn.offered_tokens
    turn.moment = Moment(load_times(companion, session, message, now, is_told=False))
    lore = find_lore(companion, message, talk, seed=seed)
    turn.persona = Persona(companion=companion, lore=lore.placed, now=turn.moment.times.now, seed=seed)
    find_memories(turn, text, embed_cue(text, companion.payer, companion.names, split_cue(text)), now)
    turn.tool_tokens = 0  # none are offered
    return merge_roles(render_prompt(turn, history)), turn.recalled


async def stream_trial(trial: Trial, clock: Clock) -> AsyncGenerator[str | Felt | Retracted, None]:
    """Yield the answer's pieces and emotions as they come, and Retracted if all before it was not an answer after all.

    The call is recorded even if the consumer stops reading. Raise ProviderError.
    """
    companion, call, meter = trial.companion, None, Meter()
    cleaner, error, outcome = _make_cleaner(companion), None, ModelCall.Outcome.STOPPED
    slot, received = uuid4(), 0
    await note_talks(trial.providers[0], [slot], SLOT_SECONDS)
    try:
        stream = stream_with_fallback(trial.providers, trial.prompt, (), trial.sampling)
        async with aclosing(stream) as events:
            async for event in events:
                parts = []
                match event:
                    case ProviderChosen():
                        if call and event.error:
                            await record_end(call, meter, trial.prompt, clock, event.error)
                        call = await in_thread_with_retry(_record_call, companion, event.provider, clock())
                        meter = Meter()
                    case Piece(text):
                        text = text[: max(0, settings.ANSWER_CHARACTERS - received)]
                        meter.note_piece(text)
                        received += len(text)
                        parts = cleaner.take(storable(text))
                    case Thought(text):
                        meter.note_piece(text)
                        received += len(text)
                    case Retracted():
                        cleaner = _make_cleaner(companion)
                        yield event
                    case Truncated():
                        meter.is_truncated = True
                    case Usage():
                        meter.usage = event
                for part in parts:
                    if isinstance(part, str | Felt):
                        yield part
                if cleaner.cut or received >= settings.ANSWER_CHARACTERS:
                    break
        for part in cleaner.end(is_cut=meter.is_truncated):
            if isinstance(part, str | Felt):
                yield part
        outcome = ModelCall.Outcome.DONE
    except ProviderError as failed:
        error = failed
        raise
    finally:
        if call:
            await asyncio.shield(record_end(call, meter, trial.prompt, clock, error, outcome))
        await note_pause(trial.providers[0], slot)
    if not cleaner.has_text:
        raise EmptyAnswer("The answer had no word that could be said")


def _make_cleaner(companion: Companion) -> AnswerCleaner:
    names = Names(companion.name, companion.user.name, companion.nickname)
    return AnswerCleaner(names, tools=TOOLS, keeps_directions=not companion.without_directions)


def _record_call(companion: Companion, provider: ChatProvider, now: datetime) -> ModelCall:
    return ModelCall.objects.create(
        user_id=companion.user_id,
        companion_id=companion.pk,
        purpose=ModelCall.Purpose.TRIAL,
        provider=provider.place,
        model=provider.model,
        started_at=now,
    )
