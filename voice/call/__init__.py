"""A call: a person and a companion speak with each other, hands free.

frames      what a call's socket takes beside what a talk's takes
sounds      an utterance as it comes, checked
utterances  what a person has said becomes a message, one after another
breaking    a person breaks in: model and voice end, and what was heard is what was said
consumer    the socket, which puts these together
notice      that one speaks with an AI, said at the beginning
"""
