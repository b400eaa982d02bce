import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SOURCE_HELP } from '../src/cli/manifests/runtime-sources.ts'
import { PROGRAM_HELP } from '../src/cli/program-options.ts'
import { DOC_PAGES, docBlocks, docBlocksIn, ROOT } from './support/doc-commands.ts'

/** Released entries of the changelog keep the commands of their time. `npm start` writes a copy of the README to `out`. */
const pages = globSync(['*.md', '{docs,charts,examples}/**/*.md'], { cwd: ROOT }).filter(
  (page) => page !== 'CHANGELOG.md' && !page.startsWith('examples/quickstart/out/'),
)

/** A command in a text or a block: in backticks, or at the beginning of a line. */
const MENTION = /(?:`|^ *)(?:weir|npm run -s weir --) ([a-z]+)\b([^`\n|#;]*)/gm

/** The source of a command, which has its `--help`; undefined if there is no such command. */
function sourceOf(name: string): string | undefined {
  const file = join(ROOT, `src/cli/commands/${name}.ts`)
  if (!existsSync(file)) return undefined
  const source = readFileSync(file, 'utf8')
  const shared = { PROGRAM_HELP, SOURCE_HELP }
  return Object.entries(shared).reduce((text, [name, help]) => (source.includes(name) ? text + help : text), source)
}

describe('paths on pages', () => {
  it('exist in the checkout', () => {
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

  it('name commands and options of weir that exist', () => {
    const mentions = pages.flatMap((page) => {
      const text = readFileSync(join(ROOT, page), 'utf8').replaceAll(/^ *```text\n[\s\S]*?```$/gm, '')
      return [...text.matchAll(MENTION)].map(([mention, name = '', rest = '']) => ({ page, mention, name, rest }))
    })
    expect(mentions.length).toBeGreaterThan(40)
    const wrong = mentions.filter(({ name, rest }) => {
      const source = sourceOf(name)
      return source === undefined || [...rest.matchAll(/--[a-z][a-z-]*/g)].some(([option]) => !source.includes(option))
    })
    expect(wrong.map(({ page, mention }) => `${page}: ${mention}`)).toEqual([])
  })
})
