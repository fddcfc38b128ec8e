"""Sessions: the stretches of a conversation, what is learnt during one, and what is kept when it ends.

requests       requests a session's closing, for its person or after silence; ends an empty session at once
closing        carries out one closing, in steps that may be interrupted and repeated
ending         tells the person how far the ending of the open session has come
transcript     selects the part of a session that a model may read
drafts         the material of a closing, and the drafts made from it, with the checks whether they are still valid
parts          asks the model for one part of a closing; returns the draft
digests        learns from a long session before it ends
diary_rewrite  rewrites diary entries after something that they were drawn from was deleted
"""
