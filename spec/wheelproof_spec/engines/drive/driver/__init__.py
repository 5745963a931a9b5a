"""The driver protocol: messages, the process, a conversation with it, and the other end."""
