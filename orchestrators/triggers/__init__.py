"""What starts things: HTTP, timers, change feeds, and the flows as Azure sees them."""
