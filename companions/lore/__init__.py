"""Lore: which lorebook entries enter a prompt, where, and why; and how people edit their lorebooks.

turn         the lore of one turn: loads the books in use, scans them, records which entries fired
rules        which entries of the books come in, computed from texts alone
explanation  why an entry came in, or was left out
editing      what people do with their books
quota        how much room these take
"""
