"""Users, API tokens, invitations, usage and limits."""
