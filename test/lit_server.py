"""Runs `tinyc-opt` and `filecheck` for lit, each in a process of its own that has them imported already.

To import tinyc takes a second, and lit tests start it hundreds of times. This process imports both commands once; for
each call it forks a process, which has the arguments, the folder, the environment and the open files of its caller, and
runs the command as its console script does. `client_text` is the program that stands for a command on lit's PATH.

    python lit_server.py SOCKET, until its standard input ends
"""

import json
import os
import signal
import socket
import sys
import threading
import warnings
from importlib import import_module

#: Command → the module whose `main` it is.
COMMANDS = {"tinyc-opt": "tinyc.opt.main", "filecheck": "filecheck.main"}

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


def client_text(python: str, command: str, address: str) -> str:
    """Return the program that has a command run by the server at `address`."""
    return _CLIENT.format(python=python, command=os.path.join(os.path.dirname(python), command), address=address)


def serve(address: str) -> None:
    """Take calls until standard input ends."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    for module in COMMANDS.values():
        import_module(module)
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
        sys.exit(sys.modules[COMMANDS[os.path.basename(sys.argv[0])]].main())
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
