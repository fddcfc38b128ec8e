"""Chat with any OpenAI-compatible server."""
