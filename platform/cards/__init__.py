"""Character cards and lorebooks as files, of any program that writes them; nothing here knows of companions.

reader     reads an upload in a sandboxed process (child)
png, charx, risum, assets  what the files contain
schema, lorebooks, values  their JSON, normalised to V3
writer     writes a card as a file (versions: as V2, for programs without V3)
"""
