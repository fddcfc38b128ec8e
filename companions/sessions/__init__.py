"""Sessions: the stretches of a conversation, what is learnt while one lasts, and what stays when it ends.

asking     a closing is asked for, or a session that holds nothing ends at once
idle       sessions that have fallen silent are closed
stretch    what of a session a closing closes
drafting   the model is asked what to keep of it; nothing is written but the draft
tracing    where a sentence comes from that was written from a summary
ending     one transaction writes it all
following  the session's end as rows, and the beginning of the next one
forgetting the end without remembering
closing    one closing, step by step, each of which may be cut off and done again
digests    what is learnt from a long session while it lasts
trying     whose work it is for now, and when to try again
rewriting  diary entries drawn from what was deleted are written anew
window     how much of a session goes into the prompt, by the pressure on it
"""

from companions.sessions.asking import close

__all__ = ["close"]
