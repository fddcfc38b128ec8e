"""Conversations: messages and attachments, their transcript and search, log imports, and the cleaning of answers."""
