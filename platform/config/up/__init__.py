"""`make up`: all that Kith needs, started in order on one machine, kept running and stopped together."""
