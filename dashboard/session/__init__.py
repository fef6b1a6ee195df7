"""What one reader's session asks for: live probes, stored rows, quotas, rooms."""
