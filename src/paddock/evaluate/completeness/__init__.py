"""When a checkpoint is complete: by its format, by what the user or the trainer says, and by rest."""
