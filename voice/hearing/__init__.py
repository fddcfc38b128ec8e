"""Hearing what a person says aloud.

taking        a recording is weighed, written anew without what a device put into it, and kept
transcribing  its words are found by a transcription provider
sending       it becomes a message, under the rules of any other
correcting    what was heard is put right, also in the message and in all that was drawn from it
leaving       whatever deletes a recording deletes its sound; what nobody sent is swept
"""
