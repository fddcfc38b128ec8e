"""What a model answers, from the stream to the companion's words: a pure reader for each thing that leaks into a text.

A piece of the stream goes through these in order. Each holds back only what may yet become something else.

cleaner       the whole way, for an answer that streams or is complete; ends an answer that goes on as somebody else
markup        template tokens, reasoning, Kith's own blocks, tool calls and placeholders
text_calls    the forms in which models write tool calls as text, for `markup` and `lines`
emotion_tags  emotions in tags
lines         labels, introductions, copied times and context, emotions in brackets, stage directions
loops         a model that repeats itself; of what it said until then, each sentence stays once

What is removed here is neither shown nor saved, spoken or learnt from. A tool call found in the text is carried out
like any other by `companions.replies.generation`. The answer of a waking has a form of its own (`companions.life`).
"""
