"""Runs the commands of tinyc for tests, each in a process of its own that has them imported already.

To import tinyc takes a second, and lit tests and documents start it hundreds of times. This process imports the
commands once, and compiles a program, which loads the dialects and LLVM. For each call it forks one, which has the
arguments, the folder, the environment and the open files of its caller, and runs the command as its console script
does. `start` writes programs that stand for them on a PATH.

    python command_server.py SOCKET, until its standard input ends
"""

import gc
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

import tinyc

#: What is compiled before the first call.
EXAMPLE = Path(__file__).parents[1] / "examples" / "softmax.json"
#: Command → the module whose `main` it is.
COMMANDS = {
    "filecheck": "filecheck.main",
    "ptxsim": "ptxsim.__main__",
    "tinyc": "tinyc.driver.cli",
    "tinyc-opt": "tinyc.opt.main",
}

_CLIENT = """#!{python} -IS
import json, os, signal, socket, sys
call = {{"argv": [{command!r}, *sys.argv[1:]], "folder": os.getcwd(), "environment": dict(os.environ)}}
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
socket.send_fds(server, [b"3"], [0, 1, 2])
with server.makefile("rw") as stream:
    stream.write(json.dumps(call) + "\\n")
    stream.flush()
    status = int(stream.readline())
if status < 0:
    os.kill(os.getpid(), -status)
sys.exit(status)
"""


def start(folder: str, environment: Mapping[str, str], scripts: Sequence[Path] = ()) -> subprocess.Popen[str]:
    """Start a server, and write the programs that ask it to run the commands, and `scripts`, into `folder`.

    It ends when nobody has its standard input open any more.
    """
    address = os.path.join(folder, "socket")
    server = subprocess.Popen(
        [sys.executable, "-P", __file__, address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    )
    if server.stdout is None or server.stdout.readline() != "ready\n":
        raise RuntimeError(f"{__file__} has not started")
    for stands_for in (*(Path(sys.executable).parent / command for command in COMMANDS), *scripts):
        program = Path(folder, stands_for.name)
        program.write_text(_CLIENT.format(python=sys.executable, command=str(stands_for), address=address))
        program.chmod(0o755)
    return server


def serve(address: str) -> None:
    """Take calls until standard input ends."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    for module in COMMANDS.values():
        import_module(module)
    for target in ("cpu", "sim"):
        tinyc.compile(EXAMPLE, target)
    gc.freeze()  # what is there stays, and need not be looked at in the processes of calls
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the processes of calls
    listener.listen(64)
    print("ready", flush=True)
    threading.Thread(target=_end_with_input, daemon=True).start()
    while True:
        caller, _ = listener.accept()
        if _fork() == 0:
            listener.close()
            _answer(caller)
        caller.close()


def _fork() -> int:
    with warnings.catch_warnings():  # of threads, of which there are numpy's and the one that waits for the end
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _end_with_input() -> None:
    while os.read(0, 1):  # `sys.stdin` would be locked in the processes of calls
        pass
    os._exit(0)


def _answer(caller: socket.socket) -> None:
    """Run one call in a process below this one, tell the caller how it ended, and end."""
    _, files, _, _ = socket.recv_fds(caller, 1, 3)
    with caller.makefile("rw") as stream:
        call = json.loads(stream.readline())
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        child = _fork()
        if child == 0:
            _run(call, files)
        _, status = os.waitpid(child, 0)
        stream.write(f"{os.waitstatus_to_exitcode(status)}\n")
    os._exit(0)


def _run(call: dict, files: list[int]) -> None:
    """Become the process of a call."""
    for standard, given in enumerate(files):
        os.dup2(given, standard)
    os.closerange(3, 64)
    # What the server has knows other files; these are open as long as the process.
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
    os.chdir(call["folder"])
    os.environ.clear()
    os.environ.update(call["environment"])
    sys.argv = call["argv"]
    try:
        command = COMMANDS.get(os.path.basename(sys.argv[0]))
        sys.exit(sys.modules[command].main() if command else runpy.run_path(sys.argv[0], run_name="__main__") and 0)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            status = status or 120  # as the interpreter ends where its output cannot be written
    os._exit(status)


if __name__ == "__main__":
    serve(sys.argv[1])
