import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import {
  CONDITION_REASONS,
  CONNECTOR_STATES,
  explainState,
  type StateEntry,
  SYMPTOMS,
  shownState,
} from '../../src/common/state-glossary.ts'

const ROOT = join(import.meta.dirname, '../..')
const FILE = 'src/common/state-glossary.ts'
const WORDS = [CONNECTOR_STATES, CONDITION_REASONS, SYMPTOMS].flatMap((glossary) => Object.keys(glossary))
/** Users request these states, so the REST API has a type of them. */
const REQUESTED = new Set(['RUNNING', 'PAUSED', 'STOPPED'])

const sources = globSync('src/**/*.ts', { cwd: ROOT }).filter((file) => file !== FILE)
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const found = (pattern: RegExp) =>
  sources.flatMap((file) => [...textOf(file).matchAll(pattern)].map(([text]) => `${file}: ${text.trim()}`))

it('No word has two meanings', () => {
  expect(WORDS.filter((word, at) => WORDS.indexOf(word) !== at)).toEqual([])
  expect(explainState('TaskFailed')?.remedy).toContain('trace')
  expect(explainState('constructor')).toBeUndefined()
})

it('Only the glossary has a type of state words, or says what to do about one', () => {
  const states = Object.keys({ ...CONNECTOR_STATES, ...CONDITION_REASONS }).filter((word) => !REQUESTED.has(word))
  const names = states.join('|')
  expect(found(new RegExp(`\\|\\s*'(?:${names})'\\s*\\|\\s*'`, 'g'))).toEqual([])
  expect(found(new RegExp(`^\\s+'?(?:${names})'?: (?:'[A-Z][^']* |\\{|"[A-Z])`, 'gm'))).toEqual([])
  expect(found(/\bnextStep:\s*['"`]/g)).toEqual([])
})

it('The console shows states by one component, which takes their colors and meanings from the glossary', () => {
  const badges = found(/class=(?:"|\$\{`)badge/g).map((text) => text.split(':', 1)[0])
  expect(badges).toEqual(['src/console/page/components/state-badge.ts'])
})

it.each([
  ['RUNNING', [], 'RUNNING'],
  ['RUNNING', ['RUNNING', 'FAILED'], 'FAILED'],
  ['FAILED', ['RUNNING'], 'FAILED'],
  ['PAUSED', ['RESTARTING', 'UNASSIGNED'], 'UNASSIGNED'],
  ['PAUSED', ['PAUSED'], 'PAUSED'],
])('A %s connector with tasks %j is shown as %s', (connector, tasks, shown) => {
  expect(shownState({ connector: { state: connector }, tasks: tasks.map((state) => ({ state })) })).toBe(shown)
})

it.each([
  ['docs/operator.md', 'reason', CONDITION_REASONS],
  ['docs/console.md', 'state', { ...CONNECTOR_STATES, ...SYMPTOMS }],
])('The table in %s has the words of the glossary; -u writes it', async (page, title, glossary) => {
  const text = textOf(page)
  const table = new RegExp(`^\\| ${title} \\| meaning \\| remedy \\|\\n(?:\\|.*\\n)+`, 'm')
  expect(text).toMatch(table)
  const rows = [`| ${title} | meaning | remedy |`, '| --- | --- | --- |', ...tableRows(glossary)]
  await expect(text.replace(table, () => `${rows.join('\n')}\n`)).toMatchFileSnapshot(join(ROOT, page))
})

/** Words with the same entry are one row. */
function tableRows(glossary: Readonly<Record<string, StateEntry>>): readonly string[] {
  const groups = Map.groupBy(Object.entries(glossary), ([, { meaning, remedy }]) => `| ${meaning} | ${remedy} |`)
  return [...groups].map(([cells, words]) => `| ${words.map(([word]) => `\`${word}\``).join(', ')} ${cells}`)
}
