"""Kubernetes: a Job for each task, or workers that stay. What is sent and what is seen are made purely."""
