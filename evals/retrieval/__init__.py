"""Quality of article search on labelled data: ranking beside its two legs, and how honest its confidence is.

Everything runs through HybridSearch itself over a corpus in memory; nothing of the data is kept. Source: KB-05…07,
design §4, data README.
"""
