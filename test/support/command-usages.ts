import { COMMANDS } from '../../src/cli/command-list.ts'
import { optionsIn } from '../../src/cli/completion/completion-words.ts'

/** One way to call a command, without what is optional, as the usage of its help says. */
export type CommandUsage = {
  readonly command: string
  /** The words after the command that are typed as they are: `peek` of `weir topic peek TOPIC`. */
  readonly words: readonly string[]
  /** The arguments by their placeholders, such as `TOPIC`. */
  readonly placeholders: readonly string[]
  /** Whether the last one may be repeated. */
  readonly isVariadic: boolean
  /** Options that must be given, with the placeholders of their values. */
  readonly required: readonly (readonly [option: string, placeholder: string])[]
  readonly options: readonly CommandOption[]
}

/** `placeholder`: that of its value; undefined for an option without a value. */
export type CommandOption = { readonly name: string; readonly placeholder: string | undefined }

/** All usages of all commands, from their help. */
export async function commandUsages(): Promise<readonly CommandUsage[]> {
  const usages = await Promise.all(
    Object.entries(COMMANDS).map(async ([command, entry]) => usagesIn(command, (await entry.load()).help)),
  )
  return usages.flat()
}

/** A command line with a value for each placeholder. */
export function commandLine(
  { command, words, placeholders, required }: CommandUsage,
  sampleOf: (placeholder: string) => string,
): readonly string[] {
  const options = required.flatMap(([option, placeholder]) => [`--${option}`, sampleOf(placeholder)])
  return [command, ...words, ...placeholders.map(sampleOf), ...options]
}

function usagesIn(command: string, help: string): readonly CommandUsage[] {
  const [block = ''] = help.split('\n\n', 1)
  const options = optionsIn(help).map(([name]) => ({ name, placeholder: placeholderOf(help, name) }))
  return block
    .replace(/\n {8,}/g, ' ')
    .split('\n')
    .map((line) => line.replace(/^(?:usage:| {6}) weir [a-z]+/, ''))
    .flatMap((line) =>
      alternatives(withoutOptional(line)).map((required) => ({
        command,
        options,
        isVariadic: /(?<!--[a-z-]+) (?:\[[A-Z]+\]|[A-Z][A-Z:|-]*)…(?: |$)/.test(line),
        ...parse(required),
      })),
    )
}

function placeholderOf(help: string, name: string): string | undefined {
  return new RegExp(`^ {2}(?:-\\w, )?--${name} (\\S*[A-Z]\\S*)`, 'm').exec(help)?.[1]
}

/** Without the innermost pair of brackets first. */
function withoutOptional(line: string): string {
  const shorter = line.replace(/ ?\[[^[\]]*\](?:…|(?=\]))?/g, '')
  return shorter === line ? line : withoutOptional(shorter)
}

/** `(worker|registry)` and `bash|zsh|fish` are two and three usages; of placeholders and of options only the first counts. */
function alternatives(line: string): readonly string[] {
  const first = line.replace(/\(([^()|]*(?:--|[A-Z])[^()|]*)(?:\|[^()]*)?\)/g, '$1')
  const [, choice] = /(?:^| )\(?([a-z]+(?:\|[a-z]+)+)\)?(?= |$)/.exec(first) ?? []
  if (choice === undefined) return [first]
  return choice.split('|').flatMap((word) => alternatives(first.replace(/\(?[a-z]+(?:\|[a-z]+)+\)?/, word)))
}

function parse(line: string): Pick<CommandUsage, 'words' | 'placeholders' | 'required'> {
  const tokens = line.split(' ').filter((token) => token !== '')
  const required: (readonly [string, string])[] = []
  const rest = tokens.filter((token, at) => {
    if (token.startsWith('--') && token !== '--') required.push([token.slice(2), tokens[at + 1] ?? ''])
    return !token.startsWith('--') && !(tokens[at - 1]?.startsWith('--') && tokens[at - 1] !== '--')
  })
  const placeholders = rest.filter((token) => /[A-Z]/.test(token))
  return {
    words: [...tokens.filter((token) => token === '--'), ...rest.filter((token) => !/[A-Z]/.test(token))],
    placeholders: placeholders.map((placeholder) => placeholder.replace(/[|…].*$/, '')),
    required,
  }
}
