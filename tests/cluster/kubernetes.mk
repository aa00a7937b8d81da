# Kubernetes that is real: etcd, API server, controllers and scheduler, and a node of processes. Included by the Makefile.
.PHONY: test-cluster test-kubernetes
test-cluster: test-kubernetes

test-kubernetes: $(VENV)/.ready  ## a control plane on this machine; built once (about 20 minutes) and kept outside of here
	bash tests/cluster/kubernetes.sh "$(CURDIR)/$(BIN)/python"
