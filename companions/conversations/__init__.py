"""Conversations: what was said, and what people do with it.

messages     checks and saves messages with their memories; loads the path of a conversation
transcript   the turns of a conversation, as pages show them
markdown     renders messages as HTML (formulas: those in them)
attachments  files sent with a message (attached_texts: the texts among them, for prompts)
editing      corrects a message or a memory, and withdraws what was drawn from the old words
revisions    the sources and differences of texts that a companion revises
search       searches a conversation
bookmarks    messages to find again
"""
