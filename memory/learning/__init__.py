"""Learning: what was said becomes what is known.

talk        what was said, as it is put before a model: numbered lines
answers     what a model may answer, validated
neighbours  which memories are offered for comparison
prompting   the requests: a digest of a batch, and the end of a session
guards      what stops a verdict, whatever the model says
applying    add, reinforce, revise, retract: the rows
"""
