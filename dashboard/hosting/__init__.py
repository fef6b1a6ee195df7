"""Parts that a server for strangers needs: addresses, guards of messages and uploads, the log, signing in."""
