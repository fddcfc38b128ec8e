"""What two say to each other: messages, their history, and what becomes of them."""
