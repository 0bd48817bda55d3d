"""lit's set-up: every `.mlir` file below is a test that says in RUN lines how `tinyc-opt` is called on it.

The `tinyc-opt` and `filecheck` that run are those of the environment that lit itself runs in.
"""

import os
import sys
from pathlib import Path

import lit.formats

here = Path(__file__).resolve().parent
config.name = "tinyc"  # noqa: F821  (lit hands in `config`)
config.test_format = lit.formats.ShTest(False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.excludes = ["Inputs", "data"]  # noqa: F821
config.test_source_root = str(here)  # noqa: F821
config.test_exec_root = str(here.parent / "build" / "test")  # noqa: F821

programs = Path(sys.executable).parent  # not resolved: an environment's python is a link
config.environment["PATH"] = os.pathsep.join([str(programs), os.environ.get("PATH", "")])  # noqa: F821
# A development run without an installed tinyc names the sources; the checks leave it unset.
if "PYTHONPATH" in os.environ:
    config.environment["PYTHONPATH"] = os.environ["PYTHONPATH"]  # noqa: F821
config.environment["TMPDIR"] = config.test_exec_root  # noqa: F821  (reproducers go there)
os.makedirs(config.test_exec_root, exist_ok=True)  # noqa: F821
config.environment["PYTHONWARNINGS"] = "error"  # noqa: F821
config.substitutions.append(("%python", sys.executable))  # noqa: F821
# tinyc-opt with the passes of Inputs/sample_opt.py, which do what no pass of tinyc's should.
config.substitutions.append(("%sample-opt", f"{sys.executable} {here / 'opt' / 'Inputs' / 'sample_opt.py'}"))  # noqa: F821
