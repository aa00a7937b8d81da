"""The server itself: sockets, the app on them, where others find it, and its end."""
