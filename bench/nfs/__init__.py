"""The queue on a real NFS: a small kernel of its own serves a disk and mounts it twice, as two machines would."""
