"""Plumbing around Django's database connections; it knows nothing of Kith."""
