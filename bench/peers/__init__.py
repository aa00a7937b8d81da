"""One file per system. Each is used as its documentation says for the fastest ordinary use, without a network.

The systems themselves are imported inside the methods: an adapter can be listed where its system is not installed.
"""
