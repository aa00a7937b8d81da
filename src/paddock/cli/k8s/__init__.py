"""paddock k8s ...: what is ours in a namespace of Kubernetes, and commands that are run there once."""
