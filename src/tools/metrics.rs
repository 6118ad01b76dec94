//! What the host can tell: CPU, memory, disk, cgroup, uptime.
