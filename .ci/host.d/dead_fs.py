"""`python3 .ci/host.d/dead_fs.py SERVER`: a session on a file system whose daemon takes requests and answers none.

What waits for such a daemon cannot be killed, not even by SIGKILL. The call is answered at its deadline all the same, and
at the end of the session the client sees the end of our output, though the kernel keeps the process.
"""
import ctypes, json, os, select, struct, subprocess, sys, tempfile, threading, time

GETATTR, INIT = 3, 26
MNT_DETACH = 2
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
libc = ctypes.CDLL(None, use_errno=True)


def serve(fuse):
    """Speaks FUSE as far as its root can be opened: <linux/fuse.h>, version 7.31."""
    while True:
        try:
            request = os.read(fuse, 1 << 20)
        except OSError:
            return
        _, code, unique, node = struct.unpack_from("IIQQ", request)
        if code == INIT:
            answer = struct.pack("IIIIHHII", 7, 31, 65536, 0, 12, 10, 65536, 1).ljust(64, b"\0")
        elif code == GETATTR:
            attributes = struct.pack("QQQQQQIIIIIIIIII", node, *[0] * 8, 0o40755, 2, 0, 0, 0, 4096, 0)
            answer = struct.pack("QII", 3600, 0, 0) + attributes
        else:
            continue
        os.write(fuse, struct.pack("IiQ", 16 + len(answer), 0, unique) + answer)


def session(server, data):
    settings = {"MCP_SAFE_DATA_DIR": data, "MCP_CALL_TIMEOUT_MS": "500", "MCP_SHUTDOWN_GRACE_MS": "500"}
    process = subprocess.Popen([server], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=settings)
    call = {"name": "sandbox_fs_read", "arguments": {"relative_path": "file"}, "_meta": META}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    process.stdin.write(line.encode() + b"\n")
    process.stdin.flush()

    def receive():
        assert select.select([process.stdout], [], [], 20)[0], "nothing came for 20 s"
        return process.stdout.readline()

    assert b"MCP_EXECUTION_TIMEOUT" in receive(), "the call was not answered at its deadline"
    process.stdin.close()
    assert receive() == b"", "something came after the end"
    assert process.poll() is None, "nothing was stuck"
    return process


server = sys.argv[1]
fuse = os.open("/dev/fuse", os.O_RDWR)
with tempfile.TemporaryDirectory() as directory:
    options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0".encode()
    if libc.mount(b"dead", directory.encode(), b"fuse", 0, options):
        sys.exit(os.strerror(ctypes.get_errno()))
    threading.Thread(target=serve, args=(fuse,), daemon=True).start()
    try:
        process = session(server, directory)
    finally:
        # Whoever waits is let go when the connection is aborted.
        libc.umount2(directory.encode(), 1)
        libc.umount2(directory.encode(), MNT_DETACH)
assert process.wait(20) == 0, "the end was not clean"
