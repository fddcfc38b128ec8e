"""A turn: save what was said, recall, stream the answer, finish. Design: a reply is a task of a web process."""
