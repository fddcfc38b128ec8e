"""Each companion's mind: the model that answers for it, kept until its person chooses another."""
