"""What things are, and how the world is reached."""
