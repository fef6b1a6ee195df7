"""The claims, one file each. The number is that of the claim, the name what it is about."""
