"""all-MiniLM-L6-v2 in NumPy: the embedder that is built in."""
