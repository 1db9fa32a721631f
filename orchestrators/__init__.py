"""When things happen: deterministic flows, their activities, the triggers that start them."""
