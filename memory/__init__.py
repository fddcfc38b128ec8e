"""What is remembered, and how it comes to mind. Nothing here knows a companion but by its key.

The doors for other code in this process; docs/memory.md shows them at work:

memory.store              keep_said, keep_fact, correct
memory.embedding          embed_cue, embed_waiting
memory.recall.recall      recall, record, search
memory.recall.candidates  MemoryFilter: which memories a recall or a list is about
memory.recall.novelty     find_novel: which observations are not known yet
memory.models             Memory.objects.of(companion_id), and its look-ups

Deleting stands above, in companions.deletion: a memory's words must go from prompts and replies as well.
"""
