"""A turn: save the message, recall, stream the answer, finish. A reply is a task of a web process, not of a socket.

The modules, in the order in which a message becomes an answer:

sockets.consumers         receives the frame (or an operation of the API, or a page, receives the message)
turn                      the entry point for all of them: a task generates the reply, and the process's heartbeat
                          watches over its tasks
lifecycle                 saves the message with its memory (conversations.messages, memory.store) and its reply, which
                          is queued or begins at once
generation                asks the model, calls its tools (companions.tools), publishes what it says
preparation               before that: embeds the message, recalls (memory.recall), composes and records the prompt
context                   loads what the prompt is made from, and composes it
prompting.pinned_context  what is in every prompt
prompting.moment          what is true only now: the time, where the two left off, the open threads, the timers
prompting.turn_prompt     renders the prompt; providers.chat.adaptation arranges it for servers that take less
model_calls               records each request to the model before it is made, and as it ends
answers.cleaner           leaves only the companion's words of what the model streams, with the emotions beside them
broadcast                 queues frames, and a task of its own sends them: to the reply's stream in Redis (streams), then
                          to everyone who follows the companion (following), its own sender among them
checkpoint                saves what has been said so far, from which another process goes on
finish                    turns the answer into a message, and strengthens the memories that the prompt showed

actions is what a person may do with a reply: stop it, cut it off where they heard it, retry it, continue it.
"""
