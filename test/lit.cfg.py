"""lit's set-up: every `.mlir` file below is a test that says in RUN lines how `tinyc-opt` is called on it.

The `tinyc-opt` and `filecheck` that run are those of the environment that lit itself runs in. `command_server.py` runs
them, so that tinyc is imported once and not for each RUN line; behind `%alone` they run as users run them.
"""

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

import lit.formats

sys.path.insert(0, str(Path(__file__).resolve().parent))
from command_server import start
from installed import stale_file

here = Path(__file__).resolve().parent
stale = stale_file()
if stale is not None and "PYTHONPATH" not in os.environ:
    lit_config.fatal(f"the installed tinyc is older than {stale}; run tools/setup dev")
config.name = "tinyc"
config.test_format = lit.formats.ShTest(False)
config.suffixes = [".mlir"]
config.excludes = ["Inputs", "data"]
config.test_source_root = str(here)
config.test_exec_root = str(here.parent / "build" / "test")

programs = Path(sys.executable).parent  # not resolved: an environment's python is a link
config.environment["PATH"] = os.pathsep.join([str(programs), os.environ.get("PATH", "")])
# A development run without an installed tinyc names the sources; the checks leave it unset.
if "PYTHONPATH" in os.environ:
    config.environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
config.environment["TMPDIR"] = config.test_exec_root  # reproducers go there
os.makedirs(config.test_exec_root, exist_ok=True)
config.environment["PYTHONWARNINGS"] = "error"
config.environment["TINYC_CACHE"] = ""  # tests compile
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%alone", f"env PATH={config.environment['PATH']}"))
commands = tempfile.mkdtemp(prefix="lit-")
# tinyc-opt with the passes of Inputs/sample_opt.py, which do what no pass of tinyc's should.
sample_opt = here / "opt" / "Inputs" / "sample_opt.py"
config.substitutions.append(("%sample-opt", os.path.join(commands, sample_opt.name)))

main_process = os.getpid()
atexit.register(lambda: shutil.rmtree(commands, ignore_errors=True) if os.getpid() == main_process else None)
server = start(commands, {**os.environ, **config.environment}, [sample_opt])
atexit.register(server.stdin.close)  # it is open in each of lit's processes, and the server ends when none has it
config.environment["PATH"] = os.pathsep.join([commands, config.environment["PATH"]])
