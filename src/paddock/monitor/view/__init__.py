"""The homes as they are now, kept in memory and looked at again when the kernel says that something was written."""
