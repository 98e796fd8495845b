"""The layout of help texts: commands in sections, sentences without truncation, and examples for each command."""

from typing import Any

from typer.core import TyperCommand, TyperGroup

from loganalyst.cli.values import plainly

SECTIONS = ("One run", "Many runs", "A store of runs", "What it knows", "For other programs")


class Group(TyperGroup):
    """Lists its commands under their sections."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Those of typer, which ask pydantic only if they must."""
        return [plainly(parameter) for parameter in super().get_params(ctx)]

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 (typer's signature)
        """Write one section after the other. A long sentence continues in the next line."""
        sections: dict[str, list[tuple[str, str]]] = {name: [] for name in SECTIONS}
        width = max(map(len, self.commands))
        for name, command in sorted(self.commands.items()):
            section = getattr(command, "rich_help_panel", None)
            line = (f"{name:{width}}", command.get_short_help_str(limit=1000))
            sections.setdefault(section if isinstance(section, str) else "Commands", []).append(line)
        for title, lines in sections.items():
            if lines:
                with formatter.section(title):
                    formatter.write_dl(lines)


class Command(TyperCommand):
    """Shows parameters by their `metavar` alone, without Python types."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Those of typer, which ask pydantic only if they must."""
        return [plainly(parameter) for parameter in super().get_params(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then options."""
        rows: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            if record := parameter.get_help_record(ctx):
                kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
                rows[kind].append((record[0].partition(" <")[0], record[1]))
        for title, lines in rows.items():
            if lines:
                with formatter.section(title):
                    formatter.write_dl(lines)


def examples(*lines: str) -> str:
    r"""The end of a command's help. \b prevents lines from being joined."""
    return "\n".join(["\b", "Examples:" if len(lines) > 1 else "Example:", *(f"  {line}" for line in lines)])
