import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest'
import { COMMANDS } from '../../src/cli/command-list.ts'
import { runCommandLine } from '../../src/cli/run-command-line.ts'
import { API_VERSION } from '../../src/common/resource-api.ts'
import { type CommandUsage, commandLine, commandUsages } from '../support/command-usages.ts'
import { startHttpServer } from '../support/http-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

// Every command and every usage in its help, so that a new command is tested as soon as it is listed.

const USAGES = (await commandUsages()).map((usage) => ({ ...usage, title: [usage.command, ...usage.words].join(' ') }))

const MISSING = 'no-such-place/file'
/** Nothing listens there. */
const UNREACHABLE = '127.0.0.1:1'
/** Values that lead as far as possible without a program that runs. */
const VALUES: Readonly<Record<string, string>> = {
  URL: `http://${UNREACHABLE}`,
  'HOST:PORT,': UNREACHABLE,
  ROLE: 'admin',
  N: '1',
  'GROUP:ARTIFACT:VERSION': 'org.example:none:1',
}
const sampleOf = (placeholder: string) =>
  VALUES[placeholder.replace(/…$/, '')] ?? (isPath(placeholder) ? MISSING : 'orders')
const isPath = (placeholder = '') => /^(?:FILE|DIR|PATH|BACKUP)\b/.test(placeholder)
/** Whatever follows is completed, so there is nothing that could be wrong. */
const isFree = ({ command }: CommandUsage) => command === 'complete'

let stdout: MockInstance
let stderr: MockInstance
let listeners: readonly unknown[]
beforeEach(() => {
  stdout = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  // No weir up of this machine is found.
  const directory = temporaryDirectory()
  vi.spyOn(process, 'cwd').mockReturnValue(directory)
  vi.stubEnv('MAVEN_REPOSITORY', `http://${UNREACHABLE}`)
  listeners = [process.stdout, process.stderr].flatMap((stream) => stream.listeners('error'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

/** Those that a command adds for its process. */
function removeListeners(): void {
  for (const stream of [process.stdout, process.stderr])
    for (const listener of stream.listeners('error'))
      if (!listeners.includes(listener)) stream.off('error', listener as () => void)
}

/** Runs a command line in this process. Fails if it prints a stack trace or control characters. */
async function weir(...args: readonly string[]) {
  const written = (spy: MockInstance) => spy.mock.calls.map(([text]) => String(text)).join('')
  stdout.mockClear()
  stderr.mockClear()
  const code = await runCommandLine(args)
  removeListeners()
  const output = { code, stdout: written(stdout), stderr: written(stderr) }
  expect(output.stderr, args.join(' ')).not.toMatch(/\n {4}at /)
  expect(output.stdout + output.stderr).not.toContain('\u001b')
  return output
}

it('reads the usages of every command', () => {
  expect(new Set(USAGES.map(({ command }) => command))).toEqual(new Set(Object.keys(COMMANDS)))
  expect(USAGES.find(({ title }) => title === 'topic backup')).toMatchObject({
    words: ['backup'],
    placeholders: ['TOPIC'],
    isVariadic: false,
    required: [['to', 'FILE']],
  })
})

describe('wrong usage', () => {
  const parsed = USAGES.filter((usage) => !isFree(usage))

  it.each(USAGES)('is not weir $title --help, which prints help without colors', async ({ command }) => {
    const { help } = await COMMANDS[command]!.load()
    expect(await weir(command, '--help')).toEqual({ code: 0, stdout: `${help}\n`, stderr: '' })
    expect(await weir('help', command)).toEqual({ code: 0, stdout: `${help}\n`, stderr: '' })
  })

  it.each(parsed)('of weir $title by an unknown option names it, and the one that is meant', async (usage) => {
    const line = commandLine(usage, sampleOf)
    expect(await weir(...line, '--no-such-option')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^weir: unknown option --no-such-option; (?:the options are --|did you mean --)/),
    })
    // An option of another usage of the command is unknown.
    const known = usage.options.filter(({ name }) => name.length > 3)
    const answers: string[] = []
    for (const { name } of known) answers.push((await weir(...line, `--${name}x`)).stderr)
    const meant = known.filter(({ name }, at) =>
      answers[at]!.includes(`unknown option --${name}x; did you mean --${name}?`),
    )
    expect(meant.length > 0).toBe(known.length > 0)
  })

  it.each(parsed)('of weir $title by an option without its value names the option', async (usage) => {
    for (const { name } of usage.options.filter(({ placeholder }) => placeholder !== undefined))
      expect(await weir(...commandLine(usage, sampleOf), `--${name}`), name).toMatchObject({
        code: 2,
        // The option may belong to another form of the command, which has other arguments.
        stderr: expect.stringMatching(new RegExp(`(?:^weir: --${name} needs a value: |unknown option --${name}; )`)),
      })
  })

  it.each(parsed.filter(({ placeholders, required }) => placeholders.length + required.length > 0))(
    'of weir $title without arguments says what is missing',
    async ({ command, words }) => {
      const { code, stderr: message } = await weir(command, ...words)
      expect(message).toMatch(new RegExp(`^weir: .+\\nweir ${command} --help describes the command\\n$`))
      expect(code).toBe(2)
    },
  )

  it.each(parsed.filter(({ isVariadic }) => !isVariadic))(
    'of weir $title by an argument too many names it',
    async (usage) => {
      const [options, given] = [
        { ...usage, words: [], placeholders: [] },
        { ...usage, required: [] },
      ]
      const args = [...commandLine(given, sampleOf), 'surplus', ...commandLine(options, sampleOf).slice(1)]
      expect(await weir(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining("'surplus'") })
    },
  )
})

describe('a file or a folder that cannot be read', () => {
  it.each(USAGES)('is named by weir $title', { tags: ['slow'] }, async (usage) => {
    const { command, placeholders, options } = usage
    const line = commandLine(usage, sampleOf)
    const files = [
      ...(placeholders.some(isPath) ? [line] : []),
      ...options.flatMap(({ name, placeholder }) =>
        isPath(placeholder) && isReadFirst(command, name) ? [[...line, `--${name}`, MISSING]] : [],
      ),
    ]
    for (const args of files) {
      const { code, stderr: message } = await weir(...args)
      // An option of another usage of the command has no effect.
      if (code === 0 && USAGES.filter((one) => one.command === command).length > 1) continue
      expect([1, 2, 3], `${args.join(' ')}: ${message}`).toContain(code)
      expect(message, args.join(' ')).toMatch(new RegExp(`^weir: |${MISSING}`))
    }
  })
})

/** A program reads its settings first, and other files when it has connected to its brokers. */
function isReadFirst(command: string, option: string): boolean {
  return COMMANDS[command]!.group !== 'Programs' || option === 'config'
}

describe('a name that is similar to one that exists', () => {
  it('is answered with that of a command', async () => {
    for (const name of [...Object.keys(COMMANDS), 'help'].filter((one) => one.length > 3))
      expect(await weir(`${name}x`)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`unknown command '${name}x'; did you mean ${name}?`),
      })
  })

  it('is answered with that of a command of a command', async () => {
    for (const { command, words } of USAGES) {
      const [word] = words
      // Where a directory may stand instead of a word, it is a directory.
      const isWord = USAGES.every((one) => one.command !== command || one.words.length > 0)
      if (word === undefined || word.length < 4 || !isWord) continue
      const { code, stderr: message } = await weir(command, `${word}x`, 'orders')
      expect([code, message]).toEqual([2, expect.stringContaining('did you mean ')])
    }
  })

  it('is answered with that of a resource', { tags: ['slow'] }, async () => {
    const { url } = await startHttpServer(({ path }) => {
      const [, answer] = ANSWERS.find(([pattern]) => pattern.test(path))!
      return { status: 'error_code' in answer ? 404 : 200, body: JSON.stringify(answer) }
    })
    const verbs = USAGES.filter(({ words: [word = ''] }) => /^(?:connector|subject)s?$/.test(word))
    expect(verbs.length).toBeGreaterThan(10)
    for (const { command, words } of verbs) {
      const confirmed = command === 'delete' ? ['--yes'] : []
      const at = words[0]!.startsWith('connector') ? ['--worker', url] : ['--registry', url]
      expect(await weir(command, ...words, 'order', ...confirmed, ...at), `${command} ${words}`).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/'order' does not exist; did you mean orders\?/),
      })
    }
  })
})

/** What a worker and a registry with one resource respond. */
const ANSWERS: readonly (readonly [path: RegExp, answer: object])[] = [
  [/^\/(?:connectors|subjects)(?!.*\/order)/, ['orders']],
  [/^\/config/, { compatibilityLevel: 'BACKWARD' }],
  [/^\/mode/, { mode: 'READWRITE' }],
  [/^\/subjects/, { error_code: 40_401, message: 'not found' }],
  [/./, { error_code: 404, message: 'not found' }],
]

/** Commands that need a broker, or a file of their own, before they connect to a URL. */
const CONNECTS_LATER = ['topic', 'dlq', 'takeover', 'plugins', 'import']

describe('a program that does not respond', () => {
  const usages = USAGES.filter(
    ({ command }) => COMMANDS[command]!.group !== 'Programs' && !CONNECTS_LATER.includes(command),
  ).flatMap((usage) => {
    const kind = /^(connector|subject)s?$/.exec(usage.words[0] ?? '')?.[1]
    const runtimes = kind === undefined ? ['worker', 'registry'] : [kind === 'connector' ? 'worker' : 'registry']
    const urls = usage.options.filter(
      ({ name, placeholder }) => runtimes.includes(name) && placeholder?.endsWith('URL'),
    )
    return urls.map(({ name }) => name).map((option) => ({ ...usage, option }))
  })

  it.each(usages)(
    'at --$option leaves weir $title undecided, and is named',
    { tags: ['slow'] },
    async ({ option, ...usage }) => {
      const root = temporaryDirectory()
      writeFileSync(join(root, 'subject.yaml'), SUBJECT)
      writeFileSync(join(root, 'connector.yaml'), CONNECTOR)
      const folder = ['generate', 'export'].includes(usage.command) ? join(root, 'new') : root
      const given = { ...usage, required: usage.required.filter(([name]) => name !== option) }
      const args = commandLine(given, (placeholder) => (isPath(placeholder) ? folder : sampleOf(placeholder)))
      const confirmed = usage.command === 'delete' ? ['--yes'] : []
      const {
        code,
        stderr: message,
        stdout: text,
      } = await weir(...args, `--${option}`, `http://${UNREACHABLE}`, ...confirmed)
      expect(code, message).toBe(usage.command === 'doctor' ? 1 : 3)
      expect(message + text).toContain(UNREACHABLE)
    },
  )
})

const SUBJECT = `apiVersion: ${API_VERSION}
kind: Subject
metadata: { name: orders-value }
spec: { schema: '"string"' }
`
const CONNECTOR = `apiVersion: ${API_VERSION}
kind: Connector
metadata: { name: orders }
spec: { class: FileStreamSource, config: { topic: orders, file: /tmp/orders } }
`
