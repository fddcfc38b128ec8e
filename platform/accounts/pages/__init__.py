"""The pages of signing up, signing in and a person's own settings."""
