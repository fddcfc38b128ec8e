"""A turn: save what was said, recall, stream the answer, finish. A reply is a task of a web process, not of a socket.

In the order in which a message becomes an answer:

sockets.consumers         a frame comes in (or an operation of the API, or a page)
turn                      where each of them enters; a task makes the reply, the process's heartbeat looks after all
lifecycle                 the message is saved with its memory (conversations.messages, memory.store) and its reply,
                          which waits for its turn or has it; at its end the answer becomes a message, and what it was
                          shown is strengthened
generation                recall, ask the model, call its tools (companions.tools), give out what it says
context                   what the prompt is made from: loaded, recalled (memory.recall), and the record of each request
prompting.pinned_context  what always stands in the prompt
prompting.turn_prompt     the prompt as it is sent
conversations.emotion_tags
                          emotions, taken out of what the model streams
broadcast                 frames on their way through Redis to everyone who follows the companion

actions is what a person may do with a reply: stop it, break it off, have it made again, have it go on.
"""
