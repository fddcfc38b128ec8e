"""Who companions are, what is said, how a turn is made."""
