"""The app for companions: their characters, conversations, replies and life between conversations."""
