"""Earlier talk that comes from elsewhere: looked at, remembered with its own dates, learnt from at night, and undone.

plan      what the talks of a file become: messages with roles, times, sessions and alternatives; pure
uploads   a file while somebody looks at it
preview   what would come of it, in plain words
imports   its messages made rows, in batches; killed anywhere, it goes on
branches  its alternatives made branches
budget    what learning from it may spend in a night
learning  its sessions learnt from, one after the other
undo      all of it taken back, with what was drawn from it

The readers of the files are `pasts`, which knows nothing of Kith.
"""
