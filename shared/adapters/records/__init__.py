"""Records over the document port, the same on every database."""
