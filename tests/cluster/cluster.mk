# Engines that are real: each is installed and started for the tests, and stopped after them. Included by the Makefile.
.PHONY: test-cluster test-slurm
test-cluster: test-slurm  ## the suite of all queues on real clusters; as root it installs what is missing

test-slurm: $(VENV)/.ready  ## Slurm: munge, slurmctld and two nodes on this machine
	sh tests/cluster/slurm.sh "$(CURDIR)/$(BIN)/python"
