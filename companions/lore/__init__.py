"""Lore: which entries of lorebooks come into a prompt, where, and why. Pure."""
