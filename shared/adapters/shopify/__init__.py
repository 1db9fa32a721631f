"""The Shopify Admin API: one client, and the ports implemented over it.

Who may do what: `catalog` and `accounts` read only; what writes to a shop is built on `client.mutate` by the adapter of
the executor's own port. Every answer of a shop is hostile text. Source: SH-01…03, apis.md §1.
"""
