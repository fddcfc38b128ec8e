"""Learning: what was said becomes what is known.

talk            what was said, as a model is shown it: numbered lines
answers         the forms of a model's answers, validated
neighbours      which memories the model is shown for comparison
requests        a digest of a batch, the parts of a session's end, a reflection, a second reading
rules           what stops a verdict, whatever the model says
verification    a second reading of what a model drafted
contradictions  which known memories a new fact makes untrue, or repeats
verdicts        applying the verdicts: add, reinforce, revise, retract
revisions       what a companion thinks of itself, and knows of its user
diary           the diary entry of a session
"""
