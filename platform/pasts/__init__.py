"""Files of earlier talk, of any program that writes them; nothing here knows of companions.

reader     reads an upload in a sandboxed process (child)
formats    recognises a file by its content and picks its reader: one of `programs`, or plain_text with text_pattern
json_scan  large JSON, read piece by piece; encoding and archive do it for text and ZIPs
collector  checks what a reader finds, and writes it out
past       what a file contains: talks, each a tree of messages
times      times as programs write them
"""
