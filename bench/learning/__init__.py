"""What is learnt of talks whose truth is known."""
