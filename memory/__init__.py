"""Memory: what a companion remembers, and how it is recalled. This package knows companions only by their ids.

The entry points for other code; docs/memory.md shows them at work:

memory.store              keep_said, keep_fact, correct
memory.embedding          embed_cue, embed_waiting
memory.recall.recall      recall, record, search
memory.recall.candidates  MemoryFilter: which memories a recall or a list is about
memory.recall.novelty     find_novel: which observations are not known yet
memory.models             Memory.objects.of(companion_id), and its look-ups

To delete memories, call companions.deletion: their words must also go from prompts and replies.
"""
