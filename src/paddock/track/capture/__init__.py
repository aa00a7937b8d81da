"""What a run is made of: code, environment, host, launch, config. Nothing here raises into a training script, but for
a config that is none; what cannot be had is left out, with a note that says why."""
