"""The page that shows forgetting and feeling: what is asked of it, what it shows, and how that is drawn."""
