"""Files for the sshd of a connection: its configuration, users, keys and the session program."""

import re
from collections.abc import Iterable

from gpuaas.wire.environments import AuthorizedKey
from gpuaas.wire.gateway import SESSION_SOCKET, EnvironmentAccess

SSHD = "/usr/sbin/sshd"
PLATFORM = "/platform"
SESSION = f"{PLATFORM}/session"
INTERPRETER = "/usr/bin/perl"  # perl-base is an essential package of Debian, and starts in a quarter of Python's time
AWAITED_KEYS, WAITING_LOCK = f"{PLATFORM}/awaited_keys", f"{PLATFORM}/waiting_lock"
SOCKET_FOLDER = f"{PLATFORM}/gateway"
SOCKET = f"{SOCKET_FOLDER}/{SESSION_SOCKET}"
CONFIGURATION_FILE, KEYS_FILE = f"{PLATFORM}/sshd_config", f"{PLATFORM}/authorized_keys"
COMMAND = (SSHD, "-i", "-e", "-f", CONFIGURATION_FILE)

LOGIN_SECONDS = 20
ATTEMPT_LIMIT = 20
KEEPALIVE_SECONDS = 30

# CHOWN and FOWNER for the terminal, KILL for signals to a session, SETGID, SETUID and SYS_CHROOT for privilege
# separation, AUDIT_WRITE because Debian's sshd refuses a login that it could not record where the kernel audits.
CAPABILITIES = (0, 3, 5, 6, 7, 18, 29)
TTY_GROUP, PRIVSEP_USER = 5, 65_533  # inside the environment's id range

CONFIGURATION = """\
HostKey {platform}/host_key
AuthorizedKeysFile {platform}/authorized_keys
AllowUsers {username}
AuthenticationMethods publickey
PubkeyAuthentication yes
PasswordAuthentication no
KbdInteractiveAuthentication no
HostbasedAuthentication no
PermitRootLogin no
UsePAM no
UseDNS no
StrictModes yes
X11Forwarding no
AllowAgentForwarding yes
AllowTcpForwarding yes
AllowStreamLocalForwarding yes
GatewayPorts no
PermitTunnel no
PermitUserRC no
PermitUserEnvironment no
PrintMotd no
PrintLastLog no
AcceptEnv LANG LC_* COLORTERM NO_COLOR
Subsystem sftp /usr/lib/openssh/sftp-server
LoginGraceTime {login_seconds}
# the gateway limits sessions (limits.py), because only it can say why
MaxSessions 1000
MaxAuthTries {attempts}
ClientAliveInterval {keepalive}
ClientAliveCountMax 3
TCPKeepAlive yes
Compression no
LogLevel INFO
PidFile none
VersionAddendum none
{algorithms}
{awaiting}
"""
# For a spare, sshd runs this program to get the keys. It waits until the spare has a holder.
AWAITING = f"AuthorizedKeysCommand {AWAITED_KEYS}\nAuthorizedKeysCommandUser sshd"
# Without the post-quantum key exchange that OpenSSH prefers: it makes each login 80 ms slower (docs/design/oci.md).
ALGORITHMS = """\
KexAlgorithms curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp256
Ciphers aes128-gcm@openssh.com,aes256-gcm@openssh.com,chacha20-poly1305@openssh.com,aes128-ctr,aes256-ctr"""

SESSION_PROGRAM = """\
#!{interpreter}
# Asks the gateway to run this session inside the environment, and waits for its exit code. The gateway reads the
# arguments, the variables and the descriptors of this process itself.
my $line;
my $tries = 100;
my %number = (HUP => 1, INT => 2, QUIT => 3, USR1 => 10, USR2 => 12, TERM => 15);
for my $name (keys %number) {{
    $SIG{{$name}} = sub {{ syswrite($line, chr $number{{$name}}) if $line }};
}}
sub complain {{ print STDERR "@_\\r\\n"; exit 255 }}
sub next_byte {{
    while (1) {{
        my $got = sysread($line, my $byte, 1);
        return $byte if $got;
        return undef if defined $got or $! != 4;  # EINTR: a signal was passed on
    }}
}}
while ($tries-- > 0) {{
    if (socket($line, 1, 1, 0) and connect($line, pack("Sa*", 1, "{socket}"))) {{
        my $answer = next_byte();
        if (defined $answer and $answer eq "e") {{
            my $text = <$line>;
            chomp $text;
            complain($text);
        }}
        if (defined $answer) {{
            open(STDIN, "<", "/dev/null");  # the process inside has the only copies from here on
            open(STDOUT, ">", "/dev/null");
            open(STDERR, ">", "/dev/null");
            my $code = next_byte();
            exit ord $code if defined $code;
            $tries = 100;  # the gateway was replaced: find the next one, which knows this session
        }}
    }}
    select(undef, undef, undef, 0.1);
}}
complain("The SSH gateway of this node does not answer. Try again later.");
"""
AWAITED_KEYS_PROGRAM = f"""\
#!{INTERPRETER}
# The gateway holds the lock until the spare has a holder, and writes the keys before it lets go.
open(my $lock, "<", "{WAITING_LOCK}") or exit 1;
flock($lock, 1);
open(my $keys, "<", "{KEYS_FILE}") or exit 1;
print <$keys>;
"""
ACCEPTED = r"Accepted publickey for {username} from \S+ port \d+ ssh2: \S+ (SHA256:[A-Za-z0-9+/]+)\s*"


def configuration(access: EnvironmentAccess) -> str:
    return CONFIGURATION.format(
        platform=PLATFORM,
        username=access.username,
        login_seconds=LOGIN_SECONDS,
        attempts=ATTEMPT_LIMIT,
        keepalive=KEEPALIVE_SECONDS,
        algorithms=ALGORITHMS,
        awaiting=AWAITING if access.is_spare else "",
    )


def session_program() -> str:
    return SESSION_PROGRAM.format(interpreter=INTERPRETER, socket=SOCKET)


def passwd(access: EnvironmentAccess) -> str:
    """The holder has no home folder here, because sshd would read files in it."""
    holder, privsep = access.first_id + access.uid, access.first_id + PRIVSEP_USER
    return (
        "root:x:0:0::/:/usr/sbin/nologin\n"
        f"sshd:x:{privsep}:{privsep}::/run/sshd:/usr/sbin/nologin\n"
        f"{access.username}:*:{holder}:{holder}::/:{SESSION}\n"
    )


def group(access: EnvironmentAccess) -> str:
    """The tty group has the environment's id: sshd assigns it to terminals in the environment's devpts."""
    holder, privsep = access.first_id + access.uid, access.first_id + PRIVSEP_USER
    return f"root:x:0:\ntty:x:{access.first_id + TTY_GROUP}:\nsshd:x:{privsep}:\n{access.username}:x:{holder}:\n"


# Only files: other sources would use services through sockets in /run, which the environment controls.
NSSWITCH = "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\n"


def authorized_keys(keys: Iterable[AuthorizedKey]) -> str:
    """Format keys from parsed parts only, without options or comments."""
    return "".join(f"{key.type} {key.blob}\n" for key in keys)


def accepted_pattern(username: str) -> re.Pattern[str]:
    """Match sshd's log line for a proven key. sshd escapes line breaks, so a client cannot forge a line."""
    return re.compile(ACCEPTED.format(username=re.escape(username)))
