"""The driver protocol: messages, the driver's process, a session with it, and a server."""
