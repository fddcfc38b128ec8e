"""A companion's words as sound, each sentence as soon as it is complete.

splitter         where a sentence ends
speech_filter    what of a sentence is said aloud
sentences        a text's sentences, each with its number and place
spoken_text      the sentence of a number in a reply or message, waited for while it is made
synthesis        the engine's work: let in by the gate, counted, marked as generated
single_flight    one making of the same thing for all who ask meanwhile
cache            what was made is found again
cleanup          what goes when its words go
sentence_speech  the sound of one sentence
text_speech      the sound of a whole text
"""
