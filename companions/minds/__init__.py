"""Each companion's own mind: the model that speaks for it, kept until its person takes another."""
