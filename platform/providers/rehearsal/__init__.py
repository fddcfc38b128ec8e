"""The rehearsal model: a small deterministic server with OpenAI's API, for when there is no language model."""
