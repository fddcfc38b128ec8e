"""The rehearsal model: a small deterministic server that speaks the OpenAI protocol, for when there is no model."""
