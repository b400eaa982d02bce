import { script } from '@bomb.sh/tab'
import { type Command, parseArguments, parseVerb, UsageError } from '../command.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

export const completionCommand: Command = {
  help: `usage: weir completion bash|zsh|fish

Prints a script for a shell, which completes commands, options, kinds, and the names of connectors, subjects and topics of the live
system by the key Tab. Add one of these lines to the file that your shell reads at its start:

  bash   source <(weir completion bash)        in ~/.bashrc, after the package bash-completion
  zsh    source <(weir completion zsh)         in ~/.zshrc, after compinit
  fish   weir completion fish | source         in ~/.config/fish/config.fish

  weir completion bash`,

  async run(args) {
    const { positionals } = parseArguments(args, { help: { type: 'boolean', short: 'h' } })
    const [word, ...more] = positionals
    const shell = parseVerb('completion', word, SHELLS, 'a shell: bash, zsh or fish')
    if (more.length > 0) throw new UsageError(`weir completion takes one shell: '${more[0]}' is unexpected`)
    if (shell === 'bash') process.stdout.write(BASH_GUARD)
    script(shell, 'weir', 'weir')
    return 0
  },
}

/** Without the package, each key Tab would print an error into the line that is being typed. */
const BASH_GUARD = `if ! declare -F _get_comp_words_by_ref >/dev/null; then
  echo 'weir: completion in bash needs the package bash-completion: install it, and load it before this line' >&2
  return 1
fi
`
