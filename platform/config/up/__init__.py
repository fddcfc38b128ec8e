"""`make up`: starts all that Kith needs on one machine, in order, keeps it running, and stops it together."""
