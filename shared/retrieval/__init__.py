"""Search over one tenant's articles: tokens, keyword index, fusion, confidence, budget, caches and the ladder."""
