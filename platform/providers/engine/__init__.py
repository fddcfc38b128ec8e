"""Kith's own engine: llama.cpp's server, in a process of its own, with a model file that the operator named."""
