"""lit's set-up: every `.mlir` file below is a test that says in RUN lines how `tinyc-opt` is called on it.

The `tinyc-opt` and `filecheck` that run are those of the environment that lit itself runs in.
"""

import os
import sys
from pathlib import Path

import lit.formats

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here))
from installed import stale_file  # noqa: E402 - where the tests stand

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
config.substitutions.append(("%python", sys.executable))
# tinyc-opt with the passes of Inputs/sample_opt.py, which do what no pass of tinyc's should.
config.substitutions.append(("%sample-opt", f"{sys.executable} {here / 'opt' / 'Inputs' / 'sample_opt.py'}"))
