"""Keep e-mail addresses and phone numbers from models, and give them back to those entitled (PV-01, PV-02)."""
