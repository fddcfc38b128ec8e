"""Sessions: the stretches of a conversation, what is learnt while one lasts, and what stays when it ends.

requests       a closing is asked for, by the person or by silence, or a session that holds nothing ends at once
closing        one closing, step by step, each of which may be cut off and done again
transcript     what of a session is put before a model
drafts         what a session holds as it ends, and the parts that are drafted of it, as long as they hold
parts          the model is asked for one part; nothing is written but the draft
digests        what is learnt from a long session while it lasts
diary_rewrite  diary entries drawn from what was deleted are written anew
"""
