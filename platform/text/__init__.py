"""Text: storability, sentences, shortening, quoting, dates and per-language rules. Imports nothing else of Kith."""
