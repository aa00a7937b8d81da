"""What is kept with a run and is no number: images, tables, plots, files, artifacts, and the Store."""
