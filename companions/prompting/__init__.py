"""What is sent to a model: one module a purpose, with its budget."""
