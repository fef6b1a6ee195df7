"""The requests of one reader's session: live probes, stored rows, quotas, rooms."""
