"""Wakings: a companion wakes for a timer or an occasion, and decides to speak or to stay silent.

waking       one waking from its claim to its end; resumes after a crash
context      its companion, the worker's lease on it, and the prompt
recent_talk  what the prompt shows of the talk
decision     the loop of model answers and tool calls
answer       parsing what the model answered
reminders    Kith's own reminder, for when the companion has no words
"""
