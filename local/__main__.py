"""`python -m local serve`: the host's command line.

Each subcommand is a pair of functions, `add_arguments(parser)` and `run(arguments) -> exit code`; modules named in
SUBCOMMANDS bring their own. Logs go to stderr, stdout carries the ready line alone.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import importlib.util
import logging
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Final

from local.change_feed import ChangeSource
from local.data_dir import default_data_dir
from local.faults import BadCrashPlan
from local.host_json import BadHostJson
from local.indexing import IndexingFailed
from local.keys import BadKeys
from local.listener import PortTaken
from local.lock import AlreadyRunning
from local.ncrontab import BadSchedule
from local.product import bind_product
from local.routes import BadTemplate
from local.serve import BeforeReady, HostOptions, default_app_dir, run_host
from shared.domain.errors import VouchError

SUBCOMMANDS: Final = ("local.ask", "local.importing")
"""Modules that add a subcommand: NAME, HELP, add_arguments(parser), run(arguments)."""

SERVE_HOOKS: Final = ("local.demo", "local.fault_plan")
"""Modules that join `serve` in this order: add_arguments(parser), before_ready(arguments) -> hooks."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand and return the exit code."""
    arguments = _parser().parse_args(argv)
    code: int = arguments.run(arguments)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m local", description="The embedded Azure Functions host.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    serve = commands.add_parser("serve", help="run the function app on this machine")
    serve.add_argument("--app", type=Path, default=default_app_dir(), metavar="DIR", help="app directory")
    serve.add_argument(
        "--data", type=Path, default=default_data_dir(), metavar="DIR", help="data directory (VOUCH_DATA_DIR or .local)"
    )
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    serve.add_argument("--port", type=int, default=7071, help="public port (7071), 0 for a free one")
    serve.add_argument("--rpc-port", type=int, default=17071, help="the app's own client's port (17071)")
    serve.add_argument("--keys", default="none", metavar="FILE", help="key file to enforce, or none (default)")
    serve.add_argument("--log-level", default="WARNING", help="level of the logs on stderr (WARNING)")
    for module in _present(SERVE_HOOKS):
        module.add_arguments(serve)
    serve.set_defaults(run=_serve)
    for module in _present(SUBCOMMANDS):
        command = commands.add_parser(module.NAME, help=module.HELP)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser


def _present(names: Sequence[str]) -> list[ModuleType]:
    return [importlib.import_module(name) for name in names if importlib.util.find_spec(name) is not None]


def _serve(arguments: argparse.Namespace) -> int:
    logging.basicConfig(
        stream=sys.stderr, level=arguments.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )
    options = HostOptions(
        app_dir=arguments.app.resolve(),
        data_dir=arguments.data.resolve(),
        host=arguments.host,
        port=arguments.port,
        rpc_port=arguments.rpc_port,
        keys=None if arguments.keys == "none" else Path(arguments.keys),
    )
    hooks: list[BeforeReady] = []
    for module in _present(SERVE_HOOKS):
        hooks += module.before_ready(arguments)
    try:
        return _run(options, bind_product(options.app_dir, options.data_dir), hooks)
    except AlreadyRunning as error:
        print(f"vouch: {error}", file=sys.stderr)
        return 2
    except (IndexingFailed, BadCrashPlan, BadHostJson, BadKeys, BadSchedule, BadTemplate, PortTaken) as error:
        print(f"vouch: {error}", file=sys.stderr)
        return 1
    except (FileExistsError, NotADirectoryError, PermissionError, sqlite3.Error, VouchError) as error:
        print(f"vouch: cannot use the data directory {options.data_dir}: {error}", file=sys.stderr)
        return 1


def _run(options: HostOptions, source: ChangeSource | None, hooks: Sequence[BeforeReady]) -> int:
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        code = runner.run(run_host(options, change_source=source, before_ready=hooks))
        if source is not None:
            # Folds the store's log into its file; only here, because tests own the services they put in place.
            from shared.container import close

            runner.run(close())
        return code


if __name__ == "__main__":
    sys.exit(main())
