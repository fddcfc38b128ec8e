"""The rehearsal model's voice and ears: a tone as long as a sentence, and a fixed or scripted transcript."""
