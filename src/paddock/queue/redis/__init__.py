"""A queue in Redis: each task is a job of RQ, so `rq info`, `rq worker` and rq-dashboard show and run it too."""
