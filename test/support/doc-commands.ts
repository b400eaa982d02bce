import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A code block of a page:
 * - `run`: commands that end, and what they need,
 * - `start`: a program that runs until the next `start` or the end of the page,
 * - `output`: what the previous commands print, undefined if the page shows an example that differs,
 * - `file`: a file that the commands use,
 * - `elsewhere`: commands that are run on another page, or not at all for the stated reason.
 */
export type DocBlock =
  | CommandBlock
  | { readonly kind: 'output'; readonly line: number; readonly text: string | undefined }
  | { readonly kind: 'file'; readonly name: string; readonly text: string }
  | { readonly kind: 'elsewhere' }

export type CommandBlock = {
  readonly kind: 'run' | 'start'
  readonly needs: string
  readonly line: number
  readonly text: string
}

export const ROOT = join(import.meta.dirname, '../..')

/** The pages whose commands tests run, and what the blocks of each group may need. */
export const DOC_PAGES = {
  /** test/e2e/docs-local.test.ts: `local` needs the checkout only, `kafka` a Kafka cluster, `postgres` a server and `psql`. */
  local: {
    pages: [
      'README.md',
      'docs/examples.md',
      'docs/data-directory.md',
      'docs/dek-registry.md',
      'docs/migrate.md',
      'docs/postgres-cdc.md',
    ],
    needs: ['local', 'kafka', 'postgres'],
  },
  /**
   * test/e2e/docs.test.ts: `helm` needs Helm only, `cluster` an API server, `operator` a release of the chart in it and
   * a Connector, `pod` the same from within the cluster.
   */
  cluster: {
    pages: [
      'docs/install.md',
      'charts/weir/README.md',
      'docs/gitops.md',
      'docs/operate.md',
      'docs/leave.md',
      'docs/alerts.md',
      'docs/operator.md',
      'docs/secure.md',
    ],
    needs: ['helm', 'cluster', 'operator', 'pod'],
  },
  /** test/e2e/write-a-connector.test.ts: an empty directory with `weir` and `npm` on PATH. */
  guide: { pages: ['docs/write-a-connector.md'], needs: ['guide'] },
} as const satisfies Record<string, { readonly pages: readonly string[]; readonly needs: readonly string[] }>

/** An optional marker and a fenced block, which may be indented as part of a list. */
const BLOCK = /^( *)(?:<!-- ((?:(?!-->)[\s\S])*) -->\n\1)?```(\w*)\n([\s\S]*?)^\1```$/gm

/** Languages of blocks that are neither commands nor used by them. */
const UNMARKED_LANGUAGES = ['ts', 'mermaid']

/**
 * The marked code blocks of a page. The comment above a block is its marker: `run: NEEDS` or `start: NEEDS` for
 * commands, `run on: PAGE` for commands that another page has as well, `not run: REASON`, `output`, `output: example`,
 * `file: NAME`. A block without a marker is an error, so that every command is tested.
 */
export function docBlocks(page: string): readonly DocBlock[] {
  return docBlocksIn(page, pageText(page))
}

export function docBlocksIn(page: string, text: string): readonly DocBlock[] {
  const indented = /\n\n(?: {4}|\t)(?!\s*(?:[-*`]|\d+\.))\S.*/.exec(text.replaceAll(BLOCK, ''))
  if (indented !== null) throw new Error(`${page}: an indented code block; use a fence with a marker: ${indented[0]}`)
  return [...text.matchAll(BLOCK)].flatMap(({ 1: indent = '', 2: marker, 3: language = '', 4: body = '', index }) => {
    const line = text.slice(0, index).split('\n').length
    if (marker === undefined && UNMARKED_LANGUAGES.includes(language)) return []
    const content = body.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
    const block = parseMarker(marker ?? '', language, content, line)
    if (block === undefined) throw new Error(`${page}:${line}: the block has no marker that says how it is tested`)
    return [block]
  })
}

function parseMarker(marker: string, language: string, text: string, line: number): DocBlock | undefined {
  const [, kind = '', argument = ''] = /^([a-z ]+?)(?:: ([\s\S]+))?$/.exec(marker) ?? []
  switch (kind) {
    case 'run':
    case 'start':
      return language === 'sh' && argument !== '' ? { kind, needs: argument, line, text } : undefined
    case 'run on':
      return isRunOn(argument, text) ? { kind: 'elsewhere' } : undefined
    case 'not run':
      return argument === '' ? undefined : { kind: 'elsewhere' }
    case 'output':
      return { kind, line, text: argument === 'example' ? undefined : text }
    case 'file':
      return argument === '' ? undefined : { kind, name: argument, text }
    default:
      return undefined
  }
}

/** Whether each of the commands is in a block that the other page runs. */
function isRunOn(page: string, commands: string): boolean {
  const run = docBlocks(page).flatMap((block) => (block.kind === 'run' ? block.text.split('\n') : []))
  return commands.split('\n').every((command) => run.includes(command))
}

function pageText(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8')
}
