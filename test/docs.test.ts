import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../src/cli/command-list.ts'
import { DOC_PAGES, docBlocks, docBlocksIn, ROOT } from './support/doc-commands.ts'

/** Released entries of the changelog keep the commands of their time. `npm start` writes a copy of the README to `out`. */
const pages = globSync(['*.md', '{docs,charts,examples}/**/*.md'], { cwd: ROOT }).filter(
  (page) => page !== 'CHANGELOG.md' && !page.startsWith('examples/quickstart/out/'),
)

/** A command in a text or a block: in backticks, or at the beginning of a line. */
const MENTION = /(?:`|^ *)(?:weir|npm run -s weir --) ([a-z]+)\b([^`\n|#;]*)/gm

/** To load the code of every command, on a busy machine. */
const ALL_COMMANDS_MS = 120_000

/** The help of a command; undefined if there is no such command. */
async function helpOf(name: string): Promise<string | undefined> {
  return Object.hasOwn(COMMANDS, name) ? (await COMMANDS[name]!.load()).help : undefined
}

describe('paths on pages', () => {
  it('exist in the checkout', { tags: ['slow'] }, () => {
    const wrong = pages.flatMap((page) =>
      [...readFileSync(join(ROOT, page), 'utf8').matchAll(/`((?:src|test|docs|scripts|examples)\/[^`\s]*)`/g)]
        .map(([, path]) => path!)
        .filter((path) => globSync(path, { cwd: ROOT }).length === 0)
        .map((path) => `${page}: ${path}`),
    )
    expect(wrong).toEqual([])
  })
})

describe('docs/operate.md', () => {
  it('quotes messages that the programs print', () => {
    const symptoms = [...readFileSync(join(ROOT, 'docs/operate.md'), 'utf8').matchAll(/^\| ([^|]+) \|/gm)]
    const messages = symptoms
      .flatMap(([, symptom]) => [...symptom!.matchAll(/`([^`]+? [^`]+?)(?: …)?`/g)].map(([, message]) => message!))
      .filter((message) => !message.startsWith('kubectl'))
    expect(messages.length).toBeGreaterThan(12)
    const source = globSync('src/**/*.ts', { cwd: ROOT }).map((file) => readFileSync(join(ROOT, file), 'utf8'))
    expect(messages.filter((message) => !source.some((text) => text.includes(message)))).toEqual([])
  })
})

describe('commands on pages', () => {
  const groups = Object.values(DOC_PAGES)

  it('are in blocks with a marker that says how they are tested', () => {
    const errors = pages.flatMap((page) => {
      try {
        docBlocks(page)
        return []
      } catch (error) {
        return [(error as Error).message]
      }
    })
    expect(errors).toEqual([])
  })

  it('are run by a test of the page', () => {
    const wrong = pages.flatMap((page) => {
      const needs = docBlocks(page).flatMap((block) => ('needs' in block ? [block.needs] : []))
      const provided: readonly string[] = groups.find((group) => group.pages.some((each) => each === page))?.needs ?? []
      return needs.filter((need) => !provided.includes(need)).map((need) => `${page}: ${need}`)
    })
    expect(wrong).toEqual([])
    expect(groups.flatMap((group) => group.pages).filter((page) => docBlocks(page).length === 0)).toEqual([])
  })

  it.each([
    ['without a marker', '```sh\nweir up\n```\n'],
    ['of another shell', '```bash\nweir up\n```\n'],
    ['without a language', '<!-- run: local -->\n```\nweir up\n```\n'],
    ['within a list', '1. Start\n\n   ```sh\n   weir up\n   ```\n'],
    ['that are indented', 'Start\n\n    weir up\n'],
    ['with an unknown marker', '<!-- ran: local -->\n```sh\nweir up\n```\n'],
    ['that the named page does not run', '<!-- run on: docs/examples.md -->\n```sh\nweir down\n```\n'],
    ['without a reason', '<!-- not run -->\n```sh\nweir up\n```\n'],
  ])('are refused %s', (_, text) => {
    expect(() => docBlocksIn('page.md', text)).toThrow('page.md')
  })

  it(
    'name commands and options of weir that exist',
    async () => {
      const mentions = pages.flatMap((page) => {
        const text = readFileSync(join(ROOT, page), 'utf8').replaceAll(/^ *```text\n[\s\S]*?```$/gm, '')
        return [...text.matchAll(MENTION)].map(([mention, name = '', rest = '']) => ({ page, mention, name, rest }))
      })
      expect(mentions.length).toBeGreaterThan(40)
      const helps = new Map(
        await Promise.all(
          [...new Set(mentions.map(({ name }) => name))].map(async (name) => [name, await helpOf(name)] as const),
        ),
      )
      const wrong = mentions.filter(({ name, rest }) => {
        const help = helps.get(name)
        // Every command has --help.
        const options = [...rest.matchAll(/--[a-z][a-z-]*/g)].filter(([option]) => option !== '--help')
        return help === undefined || options.some(([option]) => !help.includes(option))
      })
      expect(wrong.map(({ page, mention }) => `${page}: ${mention}`)).toEqual([])
    },
    ALL_COMMANDS_MS,
  )
})
