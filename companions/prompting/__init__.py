"""The prompt of a reply: the parts that stay the same from turn to turn, the history, and the context of the turn."""
