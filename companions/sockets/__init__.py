"""The WebSockets of a signed-in person."""
