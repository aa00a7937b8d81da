# Kubernetes that is real: etcd, API server, controllers and scheduler, and a node of processes. Included by the Makefile.
.PHONY: test-cluster test-kubernetes test-pods bench-kubernetes
test-cluster: test-kubernetes

test-kubernetes: $(VENV)/.ready  ## a control plane on this machine; built once (about 20 minutes) and kept outside of here
	bash tests/cluster/kubernetes.sh "$(CURDIR)/$(BIN)/python"

test-pods: $(VENV)/.ready  ## the same suite in real pods: a kubelet and containerd on this machine, and an image made here
	bash tests/cluster/kubernetes.sh "$(CURDIR)/$(BIN)/python" containers

bench-kubernetes: $(VENV)/.ready  ## tasks beside bare Jobs, in real pods
	bash tests/cluster/kubernetes.sh "$(CURDIR)/$(BIN)/python" containers $(BIN)/python -m bench --only kubernetes $(BENCH_ARGS)
