"""Each companion's mind: the model that answers for it, kept until its person chooses another.

choice        what answers for a companion: its provider and model, or a stand-in, and how
change        what its person is told and decides when the operator changes the model, or it is unavailable
editing       the person's changes, validated as a whole
sampling      the parameters that may be chosen, with their bounds
presets       manners of speaking, each a set of such values (preset_files: those of SillyTavern)
usage         what a companion's models use and cost a day
comparison    both models answer the newest exchanges, and what differs is measured
"""
