"""paddock watch and its verbs."""
