"""The one table of system calls: what environments may call, and the error for everything else.

Each call stands in exactly one of the groups below. A call in no group is newer than this table and gets ENOSYS, which
is what programs expect from an older kernel: they fall back. EPERM would make them fail (fchmodat2, faccessat2).
"""

# ruff: noqa: SIM905 (four hundred names: as words they can be read and compared, as a list they are a page each)

import errno

FILES = """
    access chdir chmod chown chown32 close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2
    fadvise64 fadvise64_64 fallocate fanotify_mark fchdir fchmod fchmodat fchmodat2 fchown fchown32 fchownat fcntl
    fcntl64 fdatasync fgetxattr flistxattr flock fremovexattr fsetxattr fstat fstat64 fstatat64 fstatfs fstatfs64 fsync
    ftruncate ftruncate64 futimesat getcwd getdents getdents64 getxattr getxattrat inotify_add_watch inotify_init
    inotify_init1 inotify_rm_watch lchown lchown32 lgetxattr link linkat listmount listxattr listxattrat llistxattr
    _llseek lremovexattr lseek lsetxattr lstat lstat64 mkdir mkdirat mknod mknodat name_to_handle_at newfstatat open
    openat openat2 pipe pipe2 pread64 preadv preadv2 pwrite64 pwritev pwritev2 read readahead readdir readlink
    readlinkat readv removexattr removexattrat rename renameat renameat2 rmdir sendfile sendfile64 setxattr setxattrat
    splice stat stat64 statfs statfs64 statmount statx symlink symlinkat sync sync_file_range syncfs tee truncate
    truncate64 umask unlink unlinkat utime utimensat utimensat_time64 utimes vmsplice write writev
""".split()

WAITING = """
    epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 io_cancel io_destroy
    io_getevents io_pgetevents io_pgetevents_time64 io_setup io_submit _newselect poll ppoll ppoll_time64 pselect6
    pselect6_time64 select signalfd signalfd4 timerfd_create timerfd_gettime timerfd_gettime64 timerfd_settime
    timerfd_settime64
""".split()

MEMORY = """
    brk cachestat madvise map_shadow_stack membarrier memfd_create memfd_secret mincore mlock mlock2 mlockall mmap
    mmap2 mprotect mremap mseal msync munlock munlockall munmap pkey_alloc pkey_free pkey_mprotect remap_file_pages
""".split()

PROCESSES = """
    alarm arch_prctl capget capset execve execveat exit exit_group fork futex futex_requeue futex_time64 futex_wait
    futex_waitv futex_wake get_robust_list get_thread_area getcpu getegid getegid32 geteuid geteuid32 getgid getgid32
    getgroups getgroups32 getitimer getpgid getpgrp getpid getppid getpriority getresgid getresgid32 getresuid
    getresuid32 getrlimit getrusage getsid gettid getuid getuid32 ioprio_get ioprio_set kill landlock_add_rule
    landlock_create_ruleset landlock_restrict_self lsm_get_self_attr lsm_list_modules lsm_set_self_attr pause
    pidfd_open pidfd_send_signal prctl prlimit64 process_mrelease restart_syscall rseq rt_sigaction rt_sigpending
    rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 rt_tgsigqueueinfo
    sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler
    sched_rr_get_interval sched_rr_get_interval_time64 sched_setaffinity sched_setattr sched_setparam
    sched_setscheduler sched_yield seccomp set_robust_list set_thread_area set_tid_address setfsgid setfsgid32 setfsuid
    setfsuid32 setgid setgid32 setgroups setgroups32 setitimer setpgid setpriority setregid setregid32 setresgid
    setresgid32 setresuid setresuid32 setreuid setreuid32 setrlimit setsid setuid setuid32 sigaltstack sigprocmask
    sigreturn tgkill tkill ugetrlimit uretprobe vfork wait4 waitid waitpid
""".split()

SOCKETS_AND_IPC = """
    accept accept4 bind connect getpeername getsockname getsockopt ipc listen mq_getsetattr mq_notify mq_open
    mq_timedreceive mq_timedreceive_time64 mq_timedsend mq_timedsend_time64 mq_unlink msgctl msgget msgrcv msgsnd recv
    recvfrom recvmmsg recvmmsg_time64 recvmsg semctl semget semop semtimedop semtimedop_time64 send sendmmsg sendmsg
    sendto setsockopt shmat shmctl shmdt shmget shutdown
""".split()

# adjtimex and clock_adjtime read the clock's state; changing it needs CAP_SYS_TIME of the node, which nobody has.
TIME_AND_SYSTEM = """
    adjtimex clock_adjtime clock_adjtime64 clock_getres clock_getres_time64 clock_gettime clock_gettime64
    clock_nanosleep clock_nanosleep_time64 getrandom gettimeofday nanosleep sysinfo time timer_create timer_delete
    timer_getoverrun timer_gettime timer_gettime64 timer_settime timer_settime64 times uname
""".split()

# Names that only exist on ARM; libseccomp leaves them out elsewhere.
ARM = "arm_fadvise64_64 arm_sync_file_range breakpoint cacheflush set_tls sync_file_range2".split()

# The kernel asks the same question as for ptrace, and since 4.8 a tracer cannot get around the filter of its tracee.
# Debuggers need ptrace; MPI and UCX copy between processes with process_vm_*; PyTorch shares GPU memory by pidfd_getfd.
TRACING = "pidfd_getfd process_vm_readv process_vm_writev ptrace".split()

# Memory placement of the caller itself, inside its cpuset. Docker asks for CAP_SYS_NICE, which the kernel does not;
# without these numactl and NCCL place host buffers on the wrong NUMA node.
PLACEMENT = "get_mempolicy mbind set_mempolicy set_mempolicy_home_node".split()

ALLOWED = (
    *FILES,
    *WAITING,
    *MEMORY,
    *PROCESSES,
    *SOCKETS_AND_IPC,
    *TIME_AND_SYSTEM,
    *ARM,
    *TRACING,
    *PLACEMENT,
)

NAMESPACES_AND_MOUNTS = """
    clone3 fsconfig fsmount fsopen fspick mount mount_setattr move_mount open_tree open_tree_attr pivot_root
    setdomainname sethostname setns umount umount2
""".split()

BY_CAPABILITY = {
    # Units of systemd and nested Podman create namespaces and mounts.
    "CAP_SYS_ADMIN": NAMESPACES_AND_MOUNTS,
    "CAP_SYS_BOOT": ["reboot"],
    "CAP_SYS_CHROOT": ["chroot"],
    # Compares kernel objects of two processes, and advises the memory of another process.
    "CAP_SYS_PTRACE": ["kcmp", "process_madvise"],
}
"""Allowed with the capability. CAP_SYS_MODULE, _RAWIO, _TIME, _PACCT, CAP_SYSLOG, CAP_BPF and CAP_PERFMON are not here:
for their calls the kernel asks for rights on the node, which no environment has, so each of them is attack surface
without a use."""

REFUSED = {
    "acct": "process accounting of the node",
    "bpf": "programs in the kernel; unprivileged callers get EPERM from the kernel too",
    "clock_settime": "the clock of the node",
    "clock_settime64": "the clock of the node",
    "delete_module": "kernel modules",
    "fanotify_init": "watches whole file systems",
    "finit_module": "kernel modules",
    "init_module": "kernel modules",
    "ioperm": "I/O ports",
    "iopl": "I/O ports",
    "kexec_file_load": "another kernel",
    "kexec_load": "another kernel",
    "lookup_dcookie": "paths of the node, for a profiler",
    "migrate_pages": "memory of other processes",
    "move_pages": "memory of other processes; tells where pages of the node lie",
    "open_by_handle_at": "opens a file below no root that the caller can see, also with CAP_DAC_READ_SEARCH",
    "perf_event_open": "counters that see other environments",
    "quotactl": "disk quotas of the node",
    "quotactl_fd": "disk quotas of the node",
    "settimeofday": "the clock of the node",
    "socketcall": "its arguments are in memory, where a filter cannot see the address family",
    "stime": "the clock of the node",
    "swapoff": "swap of the node",
    "swapon": "swap of the node",
    "syslog": "the kernel log of the node",
    "userfaultfd": "stops the kernel in the middle of a copy, which exploits need",
    "vhangup": "needs rights on the node",
}
"""EPERM: the call exists and this environment may not use it."""

ABSENT = {
    "add_key": "keyrings are kept per user of the node; runc and systemd inside accept ENOSYS, but not EPERM",
    "keyctl": "as add_key",
    "request_key": "as add_key; it starts a helper outside",
    "io_uring_enter": "its operations pass by every filter; libuv and liburing fall back on ENOSYS",
    "io_uring_register": "as io_uring_enter",
    "io_uring_setup": "as io_uring_enter",
    "modify_ldt": "16-bit segments; kernels without it answer ENOSYS",
    "uselib": "obsolete",
    "ustat": "obsolete",
    "sysfs": "obsolete",
    "epoll_ctl_old": "never implemented",
    "epoll_wait_old": "never implemented",
    "nfsservctl": "removed from the kernel",
    "_sysctl": "removed from the kernel",
    "create_module": "removed from the kernel",
    "get_kernel_syms": "removed from the kernel",
    "query_module": "removed from the kernel",
    "afs_syscall": "never implemented",
    "getpmsg": "never implemented",
    "putpmsg": "never implemented",
    "security": "never implemented",
    "tuxcall": "never implemented",
    "vserver": "never implemented",
    **dict.fromkeys("bdflush break ftime gtty idle lock mpx prof profil stty ulimit".split(), "removed or never made"),
    **dict.fromkeys("nice oldfstat oldlstat oldolduname oldstat olduname".split(), "superseded, 32-bit only"),
    **dict.fromkeys("sgetmask sigaction signal sigpending sigsuspend ssetmask".split(), "superseded, 32-bit only"),
    **dict.fromkeys(("vm86", "vm86old"), "16-bit code, 32-bit only"),
}
"""ENOSYS, the default: programs take it for an older kernel and fall back."""

CONDITIONAL = ("clone", "ioctl", "personality", "socket", "socketpair", "unshare")
"""Judged by an argument, in `seccomp.py`."""

AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET = 1, 2, 10, 16, 17
FAMILIES = {AF_UNIX: "", AF_INET: "", AF_INET6: "", AF_NETLINK: "", AF_PACKET: "CAP_NET_RAW"}
"""Address families that a socket may have, with the capability that it takes. AF_VSOCK reaches the hypervisor of the
node past the network namespace; AF_ALG, AF_RDS, AF_TIPC and their kind are kernel modules that load on first use."""
FAMILY_ERRNO = errno.EAFNOSUPPORT  # the kernel's own answer for a family that it does not have

TIOCSTI, TIOCLINUX = 0x5412, 0x541C
TERMINAL_INJECTION = (TIOCSTI, TIOCLINUX)
"""Both type into a terminal: a program started by `su` or `sudo` could speak for the person at it."""

ADDR_NO_RANDOMIZE, PER_LINUX32, UNAME26 = 0x0040000, 0x0000008, 0x0020000
PERSONALITY_BITS = ADDR_NO_RANDOMIZE | PER_LINUX32 | UNAME26
"""Personality flags that a process may set. Address randomization is switched off by gdb and the thread sanitizer; the
kernel clears it when a setuid program starts. READ_IMPLIES_EXEC and MMAP_PAGE_ZERO weaken the kernel's own defences."""
PERSONALITY_QUERY = 0xFFFFFFFF

CLONE_NEW = {
    "CLONE_NEWNS": 0x00020000,
    "CLONE_NEWCGROUP": 0x02000000,
    "CLONE_NEWUTS": 0x04000000,
    "CLONE_NEWIPC": 0x08000000,
    "CLONE_NEWUSER": 0x10000000,
    "CLONE_NEWPID": 0x20000000,
    "CLONE_NEWNET": 0x40000000,
}
CLONE_NEWTIME = 0x00000080
"""Only for unshare: in the flags of clone this bit belongs to the exit signal."""
