"""One relay process on a free port with a folder of its own; ended by its process id."""

import http.client
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEFAULT_GYRE = os.path.join(REPOSITORY, "build", "release", "gyre")

# Most cases sign events with fixed times, so the window on created_at is off unless a case asks.
DEFAULTS = {
    "net.listen": "127.0.0.1:0",
    "net.ping_s": 300,
    "limits.created_at_future_s": 0,
    "limits.created_at_past_s": 0,
    "limits.connections_per_ip": 0,
}

# Own URL of the relays under test; logins and requests to vanish name it.
RELAY_URL = "wss://relay.example/"


def raise_file_limit():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def setting_text(value):
    """A value in TOML: for booleans, integers, strings and lists of these JSON is the same."""
    return json.dumps(value, ensure_ascii=False)


def toml_text(settings):
    """The same settings as a configuration file."""
    tables = {}
    for key, value in settings.items():
        table, name = key.split(".", 1)
        tables.setdefault(table, []).append(f"{name} = {setting_text(value)}")
    return "".join(f"[{table}]\n" + "\n".join(lines) + "\n\n" for table, lines in tables.items())


class Relay:
    def __init__(self, gyre, shards=1, settings=None, store=None, config=None, preexec=None):
        """Starts the relay and waits until it listens. `store` is kept if it is given."""
        self.gyre = gyre
        self.shards = shards
        self.folder = tempfile.mkdtemp(prefix="gyre-test-")
        self.store = store or os.path.join(self.folder, "store")
        self.settings = dict(DEFAULTS)
        self.settings["relay.shards"] = shards
        self.settings["relay.urls"] = [RELAY_URL]
        self.settings["store.path"] = self.store
        self.settings.update(settings or {})
        self.config = config
        self.preexec = preexec
        self.process = None
        self.start()

    def start(self):
        command = [self.gyre, "relay"]
        if self.config:
            command += ["--config", self.config]
        for key, value in self.settings.items():
            command += ["--set", f"{key}={setting_text(value)}"]
        self._stdout = os.path.join(self.folder, "stdout")
        self._stderr = os.path.join(self.folder, "stderr")
        with open(self._stdout, "wb") as out, open(self._stderr, "ab") as err:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, preexec_fn=self.preexec
            )
        self.address = self._wait_listening(30)

    def _wait_listening(self, timeout_s):
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            with open(self._stdout, encoding="utf-8", errors="replace") as out:
                for line in out:
                    if line.startswith("listening on ") and line.endswith("\n"):
                        host, port = line[len("listening on ") :].strip().rsplit(":", 1)
                        return host, int(port)
            if self.process.poll() is not None:
                break
            time.sleep(0.01)
        code = self.process.poll()
        self.kill()
        raise RuntimeError(f"relay did not listen (exit code {code}): {self.log_tail()}")

    def log_tail(self, count=12):
        with open(self._stderr, encoding="utf-8", errors="replace") as err:
            return " | ".join(line.strip() for line in err.readlines()[-count:])

    # Life.

    @property
    def pid(self):
        return self.process.pid

    def is_running(self):
        return self.process.poll() is None

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        if self.process is not None:
            self.process.wait()

    def terminate(self, timeout_s=20):
        """SIGTERM; the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout_s)

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def restart(self, graceful=True):
        """Ends the process, gracefully or by SIGKILL, and starts it on the same store."""
        if graceful:
            code = self.terminate()
            if code != 0:
                raise RuntimeError(f"relay left with exit code {code}: {self.log_tail()}")
        else:
            self.kill()
        self.start()

    def close(self):
        """Ends the relay and removes its folder."""
        try:
            if self.is_running():
                try:
                    self.terminate(10)
                except subprocess.TimeoutExpired:
                    pass
        finally:
            self.kill()
            shutil.rmtree(self.folder, ignore_errors=True)

    # Figures of the process.

    def _status(self, name):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
            for line in status:
                if line.startswith(name + ":"):
                    return int(line.split()[1])
        return 0

    def rss_bytes(self):
        return self._status("VmRSS") * 1024

    def anonymous_bytes(self):
        """Resident memory of the process's own; mapped files of the store are not counted."""
        return self._status("RssAnon") * 1024

    def fd_count(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def cpu_s(self):
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def store_bytes(self):
        """Bytes on disk, preallocation included."""
        total = 0
        for folder, _, names in os.walk(self.store):
            for name in names:
                try:
                    total += os.stat(os.path.join(folder, name)).st_blocks * 512
                except FileNotFoundError:
                    pass
        return total

    # HTTP.

    def http(self, method="GET", path="/", headers=None, body=None):
        """(status, headers in lower case, body) of one request."""
        connection = http.client.HTTPConnection(*self.address, timeout=10)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            response = connection.getresponse()
            named = {name.lower(): value for name, value in response.getheaders()}
            return response.status, named, response.read()
        finally:
            connection.close()

    def raw_http(self, request, timeout=5):
        """(status, headers in lower case, body so far) of a request given as bytes."""
        with socket.create_connection(self.address, timeout=timeout) as connection:
            connection.sendall(request)
            data = b""
            while b"\r\n\r\n" not in data:
                chunk = connection.recv(65536)
                if not chunk:
                    break
                data += chunk
        head, _, body = data.partition(b"\r\n\r\n")
        status_line, *lines = head.decode("latin-1").split("\r\n")
        if not status_line:
            return None, {}, b""
        named = dict(line.split(":", 1) for line in lines)
        named = {name.strip().lower(): value.strip() for name, value in named.items()}
        return int(status_line.split()[1]), named, body

    def information(self):
        """The NIP-11 document."""
        status, _, body = self.http(headers={"Accept": "application/nostr+json"})
        if status != 200:
            raise RuntimeError(f"information document: status {status}")
        return json.loads(body)
