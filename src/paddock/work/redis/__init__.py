"""Tasks from Redis, run here: by a worker of ours that RQ sees as one of its own, or by a plain `rq worker`."""
