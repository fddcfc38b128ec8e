"""A companion's words as sound, each sentence as soon as it is complete.

voices         the choice of a companion's voice
sentences      splits a text into sentences, with their numbers and places, as soon as their ends are certain
speech_filter  reduces a sentence to what is said aloud
spoken_text    finds a sentence of a reply or message by its number, and waits for it while the reply is generated
synthesis      calls the speech engine: admitted, counted, and marked as generated
cache          stores speech for reuse, and deletes it with its words
sound          the sound of one sentence, and of a whole text
responses      the HTTP responses of pages and the API
"""
