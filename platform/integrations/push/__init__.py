"""Web Push: notifications that reach a person whose browser has no page of Kith open (RFC 8030, 8291, 8292)."""
