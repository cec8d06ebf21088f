"""The measurements of scripts/bench, which starts the service. Python 3, standard library only."""

import argparse
import concurrent.futures
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

BASE = urllib.parse.urlsplit(os.environ["BASE_URL"])
KEYRING = urllib.parse.urlsplit(os.environ["KEYRING_URL"])
SERVICE = int(os.environ["SERVICE_PID"])
LOG = os.environ["SERVICE_LOG"]


class Client:
    """One connection that stays open, and one account's token."""

    def __init__(self, account):
        self.account = account
        self.token = mint(account)
        self.connection = connect(BASE)

    def ask(self, method, path, body=None, expected=(200, 201, 204)):
        status, data = self.send(method, path, json.dumps(body) if body is not None else None)
        if status not in expected:
            raise SystemExit("%s %s: %d %s" % (method, path, status, data[:300]))
        return json.loads(data) if data else None

    def send(self, method, path, body=None, headers=()):
        self.connection.request(method, path, body, {**self.headers(), **dict(headers)})
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def headers(self):
        return {"Authorization": "Bearer " + self.token, "Content-Type": "application/json"}

    def environment(self, **more):
        return self.ask("POST", "/v1/environments", {"name": "bench", **more})["id"]

    def shell(self, environment):
        return self.ask("POST", "/v1/environments/%s/shells" % environment, {})

    def run(self, shell, command, wait_ms=600_000):
        return self.ask(
            "POST", "/v1/shells/%s/exec" % shell, {"command": command, "wait_ms": wait_ms})

    def delete(self, environment):
        self.ask("DELETE", "/v1/environments/" + environment)


def connect(url):
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=700)
    connection.connect()
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def mint(account):
    connection = connect(KEYRING)
    connection.request(
        "POST", "/dev/mint", json.dumps({"account_id": account, "ttl": 86400}),
        {"Content-Type": "application/json"})
    return json.loads(connection.getresponse().read())["token"]


def raise_quotas(account):
    overrides = {
        "max_environments_per_profile": 100_000,
        "max_environments_per_account": 100_000,
        "max_shells_per_environment": 10_000,
        "max_disk_bytes": 1 << 40,
        "max_file_size_bytes": 1 << 40,
    }
    Client("operator").ask("PUT", "/v1/admin/quotas/" + account, {"overrides": overrides})


# --- measuring ---

def samples(action, count, warm):
    """Sorted milliseconds."""
    for _ in range(warm):
        action()
    taken = []
    for _ in range(count):
        before = time.perf_counter()
        action()
        taken.append((time.perf_counter() - before) * 1000)
    return sorted(taken)


def median(values):
    return sorted(values)[len(values) // 2]


def seconds(action):
    before = time.perf_counter()
    action()
    return time.perf_counter() - before


def tell(name, figure, unit, floor=None, target=None, per_floor=True):
    """One line: the figure, its floor, their ratio and the bound it should keep."""
    line = "%-46s %10.2f %-7s" % (name, figure, unit)
    if floor is not None:
        ratio = figure / floor
        line += " floor %10.2f  ratio %6.2f" % (floor, ratio)
        if target is not None:
            kept = ratio <= target if per_floor else ratio >= target
            line += "  %s %.2f %s" % ("<=" if per_floor else ">=", target, "ok" if kept else "MISSED")
    elif target is not None:
        line += "  <= %.2f %s" % (target, "ok" if figure <= target else "MISSED")
    print(line, flush=True)


def status(field):
    with open("/proc/%d/status" % SERVICE) as lines:
        return int(re.search(r"^%s:\s+(\d+)" % field, lines.read(), re.M).group(1))


def live_heap():
    """Bytes of the objects that are left after a full collection of the service."""
    with open(LOG, errors="replace") as log:
        log.seek(0, os.SEEK_END)
        os.kill(SERVICE, signal.SIGQUIT)
        text = ""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            text += log.read()
            found = re.findall(r"^Total\s+\d+\s+(\d+)", text, re.M)
            if found:
                return int(found[-1])
            time.sleep(0.02)
    raise SystemExit("the service did not tell its heap")


# --- shells ---

def part_shells(full):
    client = Client("bench-shells-%d" % os.getpid())
    raise_quotas(client.account)
    environment = client.environment()
    shell = client.shell(environment)["id"]
    count, warm = (4000, 12000) if full else (1500, 2000)

    def health():
        client.send("GET", "/health")

    def run():
        client.run(shell, "true")

    cold = median(samples(run, 300, 20))
    tell("exec true, the first 300 of a service, p50", cold, "ms")
    samples(run, 1, warm)
    samples(health, 1, warm)
    rounds = [(samples(health, count // 4, 50), samples(run, count // 4, 50)) for _ in range(4)]
    floor = median([value for taken, _ in rounds for value in taken])
    figure = median([value for _, taken in rounds for value in taken])
    tell("exec true on an open shell, p50", figure, "ms", floor, 3.0)
    client.delete(environment)


# --- output ---

def part_output(full):
    flood = "head -c 200000000 /dev/zero | tr '\\0' 'x'"
    client = Client("bench-output-%d" % os.getpid())
    raise_quotas(client.account)
    for readers in (0, 1, 20):
        environment = client.environment()
        shell = client.shell(environment)["id"]
        client.run(shell, flood)
        floors, figures = [], []
        before = live_heap()
        followers = [Follower(client, shell, never=number == 0) for number in range(readers)]
        for _ in range(5):
            floors.append(seconds(lambda: client.run(shell, flood + " | cat >/dev/null")))
            figures.append(seconds(lambda: client.run(shell, flood)))
        tell("200 MB of output, %d readers, p50" % readers,
             median(figures) * 1000, "ms", median(floors) * 1000, 2.0 if readers == 0 else None)
        tell("  heap kept with %d readers" % readers,
             max(0, live_heap() - before) / 2**20, "MiB", target=16.0)
        for follower in followers:
            follower.close()
        client.delete(environment)


class Follower:
    """Reads the output stream of a shell, or connects and never reads."""

    def __init__(self, client, shell, never):
        self.connection = connect(BASE)
        self.sock = self.connection.sock
        self.connection.request(
            "GET", "/v1/shells/%s/output/stream?encoding=base64" % shell, headers=client.headers())
        self.closed = False
        if not never:
            threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            answer = self.connection.getresponse()
            while not self.closed and answer.read1(1 << 16):
                pass
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            pass

    def close(self):
        self.closed = True
        self.sock.shutdown(socket.SHUT_RDWR)


# --- idle shells ---

def part_idle(full):
    count = 1000 if full else 200
    client = Client("bench-idle-%d" % os.getpid())
    raise_quotas(client.account)
    environments = [client.environment() for _ in range(10)]
    for environment in environments:
        for _ in range(2):
            client.run(client.shell(environment)["id"], "true")
    heap, threads, resident = live_heap(), status("Threads"), status("VmRSS")
    for environment in environments:
        for _ in range(count // len(environments)):
            client.run(client.shell(environment)["id"], "echo idle")
    tell("%d idle shells, heap for each" % count, (live_heap() - heap) / count / 1024, "KiB", target=64.0)
    tell("  resident memory for each", max(0, status("VmRSS") - resident) / count, "KiB")
    tell("  more threads", status("Threads") - threads, "threads", target=4.0)
    for environment in environments:
        client.delete(environment)


# --- sandbox ---

def part_sandbox(full):
    client = Client("bench-sandbox-%d" % os.getpid())
    raise_quotas(client.account)
    tier = client.ask("GET", "/ready")["sandbox_tier"]
    if tier != "namespace":
        print("sandbox: skipped, the tier here is %s" % tier)
        return
    count, warm = (200, 100) if full else (60, 60)
    environment = client.environment()
    first = client.shell(environment)
    join = floor_join(first)
    bare = floor_bwrap(first)

    def open_shell():
        opened.append(client.shell(environment)["id"])

    def close_all():
        while opened:
            client.ask("DELETE", "/v1/shells/" + opened.pop())

    opened = []
    figures, floors = [], []
    samples(open_shell, 1, warm)
    close_all()
    for _ in range(4):
        floors += samples(join, count // 4, 3)
        figures += samples(open_shell, count // 4, 3)
        close_all()
    tell("open a shell, p50", median(figures), "ms", median(floors), 1.5)

    figures, floors = [], []
    for _ in range(count // 2):
        fresh = client.environment()
        before = time.perf_counter()
        client.shell(fresh)
        figures.append((time.perf_counter() - before) * 1000)
        floors += samples(bare, 1, 0)
        client.delete(fresh)
    tell("first shell of an environment, p50", median(figures), "ms", median(floors), 1.5)

    def once():
        client.ask("POST", "/v1/exec", {"environment_id": environment, "command": "true"})

    figures, floors = [], []
    samples(once, 1, warm)
    for _ in range(4):
        floors += samples(bare, count // 4, 3)
        figures += samples(once, count // 4, 3)
    tell("one-shot command, p50", median(figures), "ms", median(floors), 1.0)
    client.delete(environment)


def floor_join(shell):
    """What a bare join of the same sandbox with the same flags takes: the command the service ran."""
    with open("/proc/%d/cmdline" % shell["pid"], "rb") as words:
        argv = words.read().split(b"\0")[:-1]
    join = argv[:argv.index(b"--noprofile")] + [b"-c", b"true"]
    return lambda: subprocess.run(join, env={}, check=True, stdout=subprocess.DEVNULL)


def floor_bwrap(shell):
    """A bare bubblewrap with the mounts of a live sandbox, as its user."""
    inside = "/proc/%d/mountinfo" % shell["shell_pid"]
    with open("/proc/%d/status" % shell["shell_pid"]) as lines:
        uid = re.search(r"^Uid:\s+(\d+)", lines.read(), re.M).group(1)
    binds = []
    with open(inside) as mounts:
        for line in mounts:
            fields = line.split()
            kind = fields[fields.index("-") + 1]
            source, target = fields[3], fields[4]
            below = target == "/" or target.startswith(("/proc", "/dev", "/tmp", "/workspace"))
            if kind not in ("proc", "tmpfs", "devpts", "mqueue") and not below and os.path.exists(source):
                binds += ["--ro-bind", source, target]
    folder = tempfile.mkdtemp()
    os.chmod(folder, 0o777)
    argv = ["setpriv", "--reuid", uid, "--regid", uid, "--clear-groups", "--no-new-privs", "bwrap",
            "--unshare-user", "--disable-userns", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
            "--unshare-cgroup", "--uid", uid, "--gid", uid, "--hostname", "bench", "--as-pid-1",
            "--die-with-parent", "--cap-drop", "ALL", "--clearenv", *links(), *binds,
            "--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--size", str(128 << 20),
            "--tmpfs", "/dev/shm", "--perms", "1777", "--size", str(512 << 20), "--tmpfs", "/tmp",
            "--bind", folder, "/workspace", "--chdir", "/workspace", "--remount-ro", "/",
            "--", "bash", "-c", "true"]
    return lambda: subprocess.run(argv, env={"PATH": os.environ["PATH"]}, check=True)


def links():
    """The top-level links of this host, such as /bin."""
    found = []
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        if os.path.islink("/" + name):
            found += ["--symlink", os.readlink("/" + name), "/" + name]
    return found


# --- files ---

def part_files(full):
    client = Client("bench-files-%d" % os.getpid())
    raise_quotas(client.account)
    environment = client.environment()
    files = "/v1/environments/%s/files" % environment
    pairs(client, files, 4 if full else 2)
    download(client, files, (1 << 30) if full else (256 << 20))
    tree(client, environment, files, full)
    client.delete(environment)


def pairs(client, files, duration):
    data = "x" * 1024
    folder = tempfile.mkdtemp(dir=os.path.dirname(LOG))

    def local():
        aside = os.path.join(folder, "aside")
        with open(aside, "wb") as written:
            written.write(data.encode())
            written.flush()
            os.fsync(written.fileno())
        os.rename(aside, os.path.join(folder, "file"))
        with open(os.path.join(folder, "file"), "rb") as again:
            again.read()

    def remote():
        client.ask("PUT", files + "/content", {"path": "file", "content": data})
        client.ask("GET", files + "/content?path=file")

    def rate(action):
        done, until = 0, time.perf_counter() + duration
        while time.perf_counter() < until:
            action()
            done += 1
        return done / duration

    samples(remote, 1, 2000)
    floors, figures = zip(*[(rate(local), rate(remote)) for _ in range(3)])
    tell("1 KiB write and read", median(figures), "pairs/s", median(floors), 0.4, per_floor=False)
    shutil.rmtree(folder)


def download(client, files, size):
    path = os.path.join(os.path.dirname(LOG), "static")
    with open(path, "wb") as made:
        for _ in range(size >> 20):
            made.write(os.urandom(1 << 20))
    subprocess.run(
        ["curl", "-sf", "-o", os.devnull, "-H", "Authorization: Bearer " + client.token, "-T", path,
         BASE.geturl() + files + "/raw?path=big"], check=True)
    port, server = serve(path)

    def get(url):
        return seconds(lambda: subprocess.run(
            ["curl", "-sf", "-o", os.devnull, "-H", "Authorization: Bearer " + client.token, url],
            check=True))

    remote = BASE.geturl() + files + "/raw?path=big"
    floors, figures = zip(
        *[(size / get("http://127.0.0.1:%d/" % port), size / get(remote)) for _ in range(4)])
    tell("raw download of %d MiB" % (size >> 20),
         median(figures) / 2**20, "MiB/s", median(floors) / 2**20, 0.5, per_floor=False)
    server.close()
    os.unlink(path)


def serve(path):
    """A server that copies one file to whoever connects, as socat would."""
    server = socket.create_server(("127.0.0.1", 0))

    def run():
        while True:
            try:
                peer, _ = server.accept()
            except OSError:
                return
            with peer, open(path, "rb") as file:
                peer.recv(65536)
                peer.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
                             % os.path.getsize(path))
                while piece := file.read(1 << 17):
                    peer.sendall(piece)

    threading.Thread(target=run, daemon=True).start()
    return server.getsockname()[1], server


def tree(client, environment, files, full):
    entries = 100_000 if full else 20_000
    megabytes = 200 if full else 50
    shell = client.shell(environment)["id"]
    client.run(shell, "mkdir many; seq -f many/f%%.0f 1 %d | xargs touch" % entries)
    client.run(
        shell,
        "mkdir text; for n in $(seq %d); do yes 'some words on a line of text' | head -c 1000000"
        " >text/$n; done; echo needle >>text/1" % megabytes)

    def listing():
        status_code, data = client.send("GET", files + "?path=many")
        assert status_code == 200 and data.count(b'"name"') == entries, (status_code, data[:300])

    def search():
        found = client.ask(
            "GET", files + "/search?path=text&pattern=needle&max_file_bytes=16777216")
        assert found["total_matches"] == 1

    def timed(command):
        return seconds(lambda: client.run(shell, command))

    samples(listing, 1, 10)
    samples(search, 1, 10)
    floors, figures = zip(*[(timed("ls -f many >/dev/null"), seconds(listing)) for _ in range(4)])
    tell("listing %d entries" % entries, median(figures) * 1000, "ms", median(floors) * 1000, 3.0)
    floors, figures = zip(*[(timed("grep -rF needle text"), seconds(search)) for _ in range(4)])
    tell("search of %d MB" % megabytes, median(figures) * 1000, "ms", median(floors) * 1000, 3.0)


# --- start ---

def part_history(full):
    environments, shells = (2000, 10) if full else (100, 10)

    def fill(worker):
        client = Client("bench-start-%d-%d" % (os.getpid(), worker))
        raise_quotas(client.account)
        for _ in range(environments // 4):
            environment = client.environment()
            for _ in range(shells):
                client.ask("POST", "/v1/exec", {"environment_id": environment, "command": "true"})

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(fill, range(4)))
    print("start: %d environments with %d shells in history" % (environments, environments * shells))


def part_started(started):
    tell("start to ready with that history", started, "ms")


PARTS = {
    "shells": part_shells,
    "output": part_output,
    "idle": part_idle,
    "sandbox": part_sandbox,
    "files": part_files,
    "history": part_history,
}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--full", action="store_true")
    arguments.add_argument("--started", type=float)
    arguments.add_argument("part")
    given = arguments.parse_args()
    if given.part == "started":
        part_started(given.started)
    elif given.part in PARTS:
        PARTS[given.part](given.full)
    else:
        sys.exit("bench: no part %r: there are %s and start" % (given.part, " ".join(PARTS)))


main()
