import { type Complete, RootCommand } from '@bomb.sh/tab'
import { type Command, type ListedCommands, UsageError } from '../command.ts'
import { completionsOf, optionsIn } from '../completion/completion-words.ts'
import { printableText } from '../terminal/printable-text.ts'

/** A person waits for the words. */
const TIMEOUT_MS = 2_000

const HELP = `usage: weir complete -- WORDS

Prints the words that complete a command line, of which WORDS are those after weir, with their descriptions. The scripts of
weir completion call it. Names come from the live system; if it does not respond within two seconds, there are none.

  weir complete -- get connector ""`

/** The command that completes the command lines of all commands. */
export function completeCommandOf(commands: ListedCommands): Command {
  return {
    help: HELP,
    async run([separator, ...words]) {
      if (separator !== '--') throw new UsageError('expected --, followed by the words after weir')
      const root = new RootCommand()
      for (const [name, { summary }] of Object.entries(commands)) root.command(name, summary)
      const [name = '', ...args] = words
      const known = Object.hasOwn(commands, name) ? commands[name] : undefined
      if (known !== undefined && args.length > 0) {
        const command = root.command(name, known.summary)
        const { help } = await known.load()
        for (const [option, about] of optionsIn(help)) command.option(option, about)
        const found = await withinTime(completionsOf(name, help, args))
        const complete = (add: Complete) => {
          for (const word of found) if (printableText(word) === word) add(word, '')
        }
        command.argument('word', complete, true)
      }
      root.parse([...words])
      // A request that is under way must not delay the prompt.
      process.exit(0)
    },
  }
}

async function withinTime(words: Promise<readonly string[]>): Promise<readonly string[]> {
  const timeout = new Promise<readonly string[]>((resolve) => setTimeout(() => resolve([]), TIMEOUT_MS).unref())
  // Nothing is printed into the line that is being typed.
  return Promise.race([words.catch(() => []), timeout])
}
