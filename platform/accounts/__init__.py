"""Users, tokens, invitations and what may be spent."""
