"""Pages of the person's own companions: what another owns does not exist here."""
