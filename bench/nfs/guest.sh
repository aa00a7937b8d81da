#!/bin/sh
# The first process of the user-mode kernel: an NFS server with a disk, and two clients that share no cache.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs run /run
mount -t tmpfs nfs /var/lib/nfs
mount -t tmpfs mnt /mnt
mkdir -p /mnt/root/lib/modules /mnt/disk /mnt/worker /mnt/submitter /mnt/tmp
mkdir -p /var/lib/nfs/v4recovery /var/lib/nfs/rpc_pipefs
touch /var/lib/nfs/etab /var/lib/nfs/rmtab
ip link set lo up
mount --bind /usr/lib/uml/modules /mnt/root/lib/modules
for module in nfsd nfs nfsv4; do modprobe -d /mnt/root "$module"; done
mount -t nfsd nfsd /proc/fs/nfsd
mount -t ext4 /dev/ubda /mnt/disk
exportfs -o rw,no_root_squash,fsid=0,insecure,no_subtree_check 127.0.0.1:/mnt/disk
rpc.nfsd -N 3 -H 127.0.0.1 4
rpc.mountd -N 3
for client in worker submitter; do mount -t nfs4 -o nosharecache 127.0.0.1:/ "/mnt/$client"; done
export HOME=/mnt/tmp TMPDIR=/mnt/tmp PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH="$BENCH_REPOSITORY:$BENCH_REPOSITORY/src"
cd /mnt/tmp && "$BENCH_PYTHON" -m bench.nfs.measure "$BENCH_TASKS"
poweroff -f
