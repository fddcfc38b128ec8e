"""The WebSockets of a person."""
