"""The rehearsal model: a small deterministic server of the OpenAI protocol, for when there is no model."""
