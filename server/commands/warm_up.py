"""`ggp warm-up`: compile the kernels of engine and players, which are kept on disk."""

import json
import time

import click

from gdl.compiler.kernel_loading import watching_kernels
from gdl.quantities import quantity
from server.terminal.progress import progress


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
def command(as_json: bool) -> None:
    """Compile the kernels of engine, searches, environments and learning, once on a machine and for each version.

    They are kept on disk: no match waits for them then. That takes one to four minutes, by the machine, and where they
    are on disk already, seconds. Where the disk keeps none, it says so, and the exit status is 1.
    """
    began_s = time.monotonic()
    from gdl.compiler.kernels.jit import KERNELS, UNKEPT, check_kept  # noqa: PLC0415 -- large, not needed for --help
    from players.environments import vector  # noqa: PLC0415 -- as above
    from players.learning import forest  # noqa: PLC0415 -- as above
    from players.stock import warm_up_all  # noqa: PLC0415 -- as above

    n_compiled = 0
    with progress("compiling kernels", len(KERNELS)) as advance:

        def on_kernel(n: int, _n_kernels: int) -> None:
            nonlocal n_compiled
            n_compiled = n
            advance()

        with watching_kernels(on_kernel):
            warm_up_all()
            vector.load_environment_kernels()
            forest.load_forest_kernels()
    seconds = round(time.monotonic() - began_s, 1)
    if as_json:
        found = {"compiled": n_compiled, "kept": n_compiled - len(UNKEPT), "kernels": len(KERNELS), "seconds": seconds}
        click.echo(json.dumps(found, indent=2))
    elif n_compiled:
        click.echo(f"{quantity(n_compiled, 'kernel')} compiled, in {seconds:,.0f} s")
    else:
        click.echo("all kernels are on disk already")
    check_kept()
