"""What is evaluated, in which order, what is kept, and when it ends: decisions apart from what carries them out."""
