"""A companion's words as sound, each sentence as soon as it is complete.

voices         how a companion sounds
sentences      a text's sentences, each with its number and place, as soon as its end is sure
speech_filter  what of a sentence is said aloud
spoken_text    the sentence of a number in a reply or message, waited for while it is made
synthesis      the engine's work: let in by the gate, counted, marked as generated
cache          what was made is found again, and goes when its words go
sound          the sound of one sentence, and of a whole text
responses      both as pages and the API give them
"""
