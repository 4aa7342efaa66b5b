"""Running test programs, two or more at a time, with a time limit and their output in a file."""

import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import cases
from cases import Report

TOP = Path(__file__).resolve().parents[2]
LOGS = TOP / "build" / "test-logs"
CORES = os.cpu_count() or 1


@dataclass
class Program:
    name: str
    command: list
    kind: str = "script"  # "gtest", "script" or "exit code"
    environment: dict = field(default_factory=dict)
    folder: Path = TOP
    seconds_max: int = 300
    must_fail: bool = False  # A canary: it proves that a failure is noticed.


def run_all(suite, programs, at_once=CORES):
    """Reports in the order of `programs`."""
    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(lambda program: run(suite, program), programs))


def run(suite, program):
    folder = LOGS / suite
    folder.mkdir(parents=True, exist_ok=True)
    stem = program.name.replace("/", "-").replace(" ", "-")
    log = folder / f"{stem}.log"
    result = folder / f"{stem}.json"
    result.unlink(missing_ok=True)
    command = [str(part) for part in program.command]
    if program.kind == "gtest":
        command.append(f"--gtest_output=json:{result}")
    started = time.monotonic()
    exit_code = _run_logged(command, program, log)
    seconds = time.monotonic() - started
    output = log.read_text(errors="replace")
    if program.must_fail:
        found = [cases.Case(program.name, "" if exit_code else "did not fail, as it must")]
    elif program.kind == "gtest":
        text = result.read_text(errors="replace") if result.exists() else ""
        found = cases.read_gtest(text, output, exit_code)
    elif program.kind == "script" or cases.speaks_as_script(output):
        found = cases.read_script(output, exit_code)
    else:
        found = cases.read_exit_code(exit_code)
    if not found:
        found = [cases.Case("(whole program)", "ran no test")]
    return Report(program.name, found, seconds, str(log.relative_to(TOP)))


def _run_logged(command, program, log):
    """The exit code; None after a time-out, which ends the program and whatever it started."""
    with open(log, "wb") as out:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=program.folder,
                env={**os.environ, **program.environment},
                start_new_session=True,
            )
        except OSError as error:
            out.write(f"{command[0]}: {error}\n".encode())
            return 127
        try:
            return process.wait(program.seconds_max)
        except subprocess.TimeoutExpired:
            return None
        finally:
            # The session's processes, also those that a finished script has left behind.
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
