"""Groups of commands, with plain help: Typer's coloured help takes three times as long to load."""

import typer

HELP_NAMES = {"help_option_names": ["-h", "--help"]}


def new_group(help: str) -> typer.Typer:
    app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, context_settings=HELP_NAMES)

    @app.callback(help=help)
    def group() -> None:
        """With a callback, Typer makes a group even of a single command."""

    return app
