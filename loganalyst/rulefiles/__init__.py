"""The YAML under `rules/` and the user's own: found, loaded safely, and converted to typed values."""

from loganalyst.rulefiles.compiledfile import NAME, cache_file, compiled
from loganalyst.rulefiles.compiling import keep_compiled, write_compiled
from loganalyst.rulefiles.folders import MAX_ENTRIES, digest, origin, our_digest, rules_dir, yaml_files
from loganalyst.rulefiles.loading import Keys, Place, RuleFile, load, load_all, text_files
from loganalyst.rulefiles.shapes import (
    Finite,
    Positive,
    Shape,
    Share,
    Text,
    Texts,
    check_names,
    fitted,
    needed,
    ours,
    refuse_name,
    typed,
)

__all__ = [
    "MAX_ENTRIES",
    "NAME",
    "Finite",
    "Keys",
    "Place",
    "Positive",
    "RuleFile",
    "Shape",
    "Share",
    "Text",
    "Texts",
    "cache_file",
    "check_names",
    "compiled",
    "digest",
    "fitted",
    "keep_compiled",
    "load",
    "load_all",
    "needed",
    "origin",
    "our_digest",
    "ours",
    "refuse_name",
    "rules_dir",
    "text_files",
    "typed",
    "write_compiled",
    "yaml_files",
]
