"""`paddock top`: the picture of this minute on a terminal."""
