"""What a model is sent for a reply: the turn's own prompt, and what always stands in it."""
