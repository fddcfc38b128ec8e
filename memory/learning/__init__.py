"""Learning: what was said becomes what is known.

talk        what was said, as it is put before a model: numbered lines
answers     what a model may answer, validated
neighbours  which memories are offered for comparison
requests    a digest of a batch, the parts of a session's end, a reflection
evidence    what stops a verdict, whatever the model says; sincerity, grounding, subjects and secrets are its rules
contradictions  which known memories what is learnt now leaves untrue
verdicts    add, reinforce, revise, retract: the rows
revisions   what a companion thinks of itself, and knows of its user
diary       the diary entry of a session
"""
