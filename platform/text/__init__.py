"""Text: what can be stored, sentences, shortening, quoting, dates, and rules by language. It knows nothing of Kith."""
