"""Puts the compiled catalogue into the wheel, next to its YAML (loganalyst/rulefiles/compiledfile.py)."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledCatalogue(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles the catalogue with the package's own code. An editable install reads the YAML, which may change."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile it to a temporary file, which the wheel includes."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from loganalyst import rulecatalogue, rulefiles

        self.folder = TemporaryDirectory()  # removed with this object, after the build
        file = Path(self.folder.name, rulefiles.NAME)
        rulefiles.write_compiled(file, rulecatalogue.compiled_rules)
        build_data["force_include"][str(file)] = f"loganalyst/rules/{rulefiles.NAME}"
