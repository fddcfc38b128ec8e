"""Which models there are to choose from: servers on this machine, hosted services, and what a model does when tried."""
