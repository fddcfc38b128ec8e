"""Kith's own engine: llama.cpp's server on a model file that the operator named, as one more process."""
