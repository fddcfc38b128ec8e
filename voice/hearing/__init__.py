"""What a person says aloud: recordings, their words, and the messages that they become."""
