"""Lore: which lorebook entries enter a prompt, where, and why; and how people edit their lorebooks."""
