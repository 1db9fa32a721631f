"""Activities: decode, pick ports, call one agent or mechanism, encode."""
