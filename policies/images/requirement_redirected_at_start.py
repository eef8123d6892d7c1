from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.redirections import redirected
from trainyard.judge.model.shell import is_pip_install, read_commands
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule


@rule("RUN177", pods=True, containers=True, roles=True)
def requirement_redirected_at_start(work: Work) -> Iterator[Finding]:
    """The shell of a job takes the sign in a requirement of pip for a redirection.

    `pip install numpy<2` does not run: the shell opens the file `2`, which is not there. `pip install numba>=0.57`
    installs any version, and what pip prints goes into the file `=0.57`: a warning. Both need quotes (POSIX, Shell
    Command Language, 2.7 Redirection).

    ## Fails

        jobs: [{name: llama, command: [bash, -c, "pip install --no-index -f /wheels numpy<2 && exec torchrun a.py"]}]

        jobs: [{name: llama, command: [bash, -c, "pip install --no-index -f /wheels ray>=2.9 && exec torchrun a.py"]}]

    ## Passes

        jobs: [{name: llama, command: [bash, -c, "pip install --no-index -f /wheels 'numpy<2' && exec torchrun a.py"]}]

        jobs: [{name: llama, command: [bash, -c, "pip install --no-index -f /wheels ray > /tmp/log && torchrun a.py"]}]
    """
    for _, words, line in read_commands(work.words):
        if not is_pip_install(words):
            continue
        for each in redirected(line):
            yield Finding(
                f"{work.title} {each.effect}",
                work.where_said(line),
                label="a redirection",
                help=each.help,
                severity=each.severity,
            )
