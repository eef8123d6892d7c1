"""Completion scripts, generated from the grammar."""

from __future__ import annotations

import argparse

from trainyard.cli.arguments import FORMATS


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    (commands,) = (
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    )
    return dict(commands.choices)


def _flags(command: argparse.ArgumentParser) -> list[str]:
    return [
        flag
        for action in command._actions
        for flag in action.option_strings
        if flag.startswith("--")
    ]


def _choices(command: argparse.ArgumentParser) -> list[str]:
    return [
        str(choice)
        for action in command._actions
        if not action.option_strings and action.choices
        for choice in action.choices
    ]


def _words(command: argparse.ArgumentParser) -> str:
    words = _flags(command)
    words += _choices(command)
    return " ".join(words)


def _description(command: argparse.ArgumentParser) -> str:
    text = command.description or ""
    return text.rstrip(".")


def _values(commands: dict[str, argparse.ArgumentParser]) -> dict[str, list[str]]:
    """What may follow an option, for those that take one of a few words."""
    values = {"--format": list(FORMATS)}
    for command in commands.values():
        for action in command._actions:
            if action.choices:
                words = list(map(str, action.choices))
                values |= dict.fromkeys(action.option_strings, words)
    return values


# What the command that is being completed knows: asked when it is needed, since a team's own rules and specs are part.
_OF_COMMANDS = {"explain": "codes objects", "catalog": "types"}
_OF_OPTIONS = {"--spec": "keys", "--interface": "classes", "--type": "types", "--region": "regions"}


def _asked(lists: str) -> str:
    """The command that prints lists of words."""
    return f"trainyard completion --words {lists} 2>/dev/null"


def script(shell: str, parser: argparse.ArgumentParser) -> str:
    """The completion script of ``bash``, ``zsh`` or ``fish``."""
    commands = _commands(parser)
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](commands)


def _all_values(commands: dict[str, argparse.ArgumentParser]) -> dict[str, str]:
    """What may follow an option, as words or as the command that prints them."""
    values = {flag: " ".join(words) for flag, words in _values(commands).items()}
    for flag, lists in _OF_OPTIONS.items():
        values[flag] = f"$({_asked(lists)})"
    return values


def _offered(name: str, command: argparse.ArgumentParser) -> str:
    lists = _OF_COMMANDS.get(name)
    if lists is None:
        return _words(command)
    return f"{_words(command)} $({_asked(lists)})"


def _bash(commands: dict[str, argparse.ArgumentParser]) -> str:
    cases = "\n".join(
        f'    {name}) words="{_offered(name, command)}" ;;' for name, command in commands.items()
    )
    values = "\n".join(
        f'    {flag}) COMPREPLY=($(compgen -W "{words}" -- "$word")); return ;;'
        for flag, words in _all_values(commands).items()
    )
    return f"""# trainyard completion bash > /etc/bash_completion.d/trainyard
_trainyard() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{" ".join(commands)}" -- "$word"))
    return
  fi
  case "${{COMP_WORDS[COMP_CWORD-1]}}" in
{values}
  esac
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  local IFS=$'\\n'
  COMPREPLY+=($(compgen -f -- "$word"))
}}
complete -o filenames -F _trainyard trainyard
"""


def _zsh(commands: dict[str, argparse.ArgumentParser]) -> str:
    names = " ".join(f"'{name}:{_description(command)}'" for name, command in commands.items())
    cases = "\n".join(
        f"    {name}) compadd -- {_offered(name, command)}; _files ;;"
        for name, command in commands.items()
    )
    values = "\n".join(
        f"    {flag}) compadd -- {words}; return ;;"
        for flag, words in _all_values(commands).items()
    )
    return f"""#compdef trainyard
_trainyard() {{
  local -a commands=({names})
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  case "$words[CURRENT-1]" in
{values}
  esac
  case "$words[2]" in
{cases}
  esac
}}
if [[ $funcstack[1] == _trainyard ]]; then
  _trainyard "$@"  # loaded from a folder of fpath, for the first completion
else
  compdef _trainyard trainyard
fi
"""


def _fish(commands: dict[str, argparse.ArgumentParser]) -> str:
    values = _values(commands)
    lines = ["complete -c trainyard -n __fish_use_subcommand -f"]
    for name, command in commands.items():
        text = _description(command).replace("'", "")
        lines.append(f"complete -c trainyard -n __fish_use_subcommand -a {name} -d '{text}'")
        start = f"complete -c trainyard -n '__fish_seen_subcommand_from {name}'"
        flags = _flags(command)
        for flag in flags:
            option = flag.removeprefix("--")
            line = f"{start} -l {option}"
            if flag in values:
                words = " ".join(values[flag])
                line += f" -x -a '{words}'"
            elif flag in _OF_OPTIONS:
                line += f" -x -a '({_asked(_OF_OPTIONS[flag])})'"
            lines.append(line)
        if name in _OF_COMMANDS:
            lines.append(f"{start} -f -a '({_asked(_OF_COMMANDS[name])})'")
        choices = " ".join(_choices(command))
        if choices:
            lines.append(f"{start} -f -a '{choices}'")
    return "\n".join(lines) + "\n"
