import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import {
  type ConnectorRow,
  connectorRows,
  filterConnectors,
  sortConnectors,
} from '../../src/console/page/connector-rows.ts'
import { isResolvedByBrowsers, pathSegment, subjectSegment } from '../../src/console/page/path-segment.ts'
import { parseSubject } from '../../src/console/page/subject-names.ts'
import { filterSubjectRows, subjectRow } from '../../src/console/page/subject-rows.ts'

const PAGE = join(import.meta.dirname, '../../src/console/page')
/** Ways by which text could become markup or code. */
const UNSAFE =
  /dangerouslySetInnerHTML|\b(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc/

it('The page inserts text as text only', () => {
  const files = globSync('**/*.ts', { cwd: PAGE })
  expect(files.length).toBeGreaterThan(10)
  expect(files.filter((file) => UNSAFE.test(readFileSync(join(PAGE, file), 'utf8')))).toEqual([])
})

/** A value in a notice or a question that is not isolated. */
const NOT_ISOLATED =
  /notify\(`|(?:done|question)=\$\{(?:asks\()?`|question=\$\{html`<p>[^`]*? (?:of|in|subject) \$\{(?:name|subject|what)\}/

it('Names in confirmations and notices cannot reorder the words around them', () => {
  const wrong = globSync('**/*.ts', { cwd: PAGE }).filter((file) =>
    NOT_ISOLATED.test(readFileSync(join(PAGE, file), 'utf8')),
  )
  expect(wrong).toEqual([])
})

it('No word is joined to the element in the next line, because templates drop the line break between them', () => {
  const joined = globSync('**/*.ts', { cwd: PAGE }).flatMap((file) =>
    (readFileSync(join(PAGE, file), 'utf8').match(/[a-z,;:]\n\s+<(?:a|code|strong|em|bdi)[\s>][^\n]*/g) ?? []).map(
      (found) => `${file}: ${found}`,
    ),
  )
  expect(joined).toEqual([])
})

it('Counts are written with their noun by one function, which knows the singular', () => {
  // The `tasks` of a row is a text such as `1/2`, and a component has an upper-case letter.
  const counts =
    /\$\{(?!counted|tasks\}|[A-Z])[^{}]+\} (?:equal )?(?:lines|records|tasks|keys|defaults|versions|connectors|subjects|schemas|partitions|topics)\b(?!=)/g
  const wrong = globSync('**/*.ts', { cwd: PAGE }).flatMap((file) =>
    (readFileSync(join(PAGE, file), 'utf8').match(counts) ?? []).map((found) => `${file}: ${found}`),
  )
  expect(wrong).toEqual([])
})

it('Times and counts of lists have one form each', () => {
  const found = globSync('**/*.ts', { cwd: PAGE }).flatMap((file) => {
    const text = readFileSync(join(PAGE, file), 'utf8')
    return (text.match(/toLocale(?:Date|Time)?String\(\)|\.length\} of \$\{/g) ?? []).map((one) => `${file}: ${one}`)
  })
  expect(found).toEqual([])
})

const instance = (state: string, trace?: string) => ({ state, worker_id: 'a:8083', ...(trace ? { trace } : {}) })
const status = (name: string, state: string, ...tasks: readonly string[]) => ({
  name,
  type: 'sink',
  connector: instance(state),
  tasks: tasks.map((one, id) => ({
    id,
    ...instance(one, one === 'FAILED' ? `Error: no table\n at ${id}` : undefined),
  })),
})
const rows = connectorRows({
  good: { status: status('good', 'RUNNING', 'RUNNING') },
  half: { status: status('half', 'RUNNING', 'RUNNING', 'FAILED') },
  waits: { status: status('waits', 'RUNNING', 'UNASSIGNED') },
  created: { info: { name: 'created', type: 'source', config: { 'connector.class': 'com.example.Files' } } },
})
const names = (found: readonly ConnectorRow[]) => found.map(({ name }) => name)

it('A connector with a failed task counts as failed and shows the first line of its trace', () => {
  expect(rows.find(({ name }) => name === 'half')).toMatchObject({
    state: 'FAILED',
    tasks: '1/2',
    failedTasks: 1,
    reason: 'Error: no table',
  })
})

it('Connectors that need attention are first', () => {
  expect(names(sortConnectors(rows, ''))).toEqual(['half', 'created', 'waits', 'good'])
  expect(names(sortConnectors(rows, '-name'))).toEqual(['waits', 'half', 'good', 'created'])
})

it('Filters combine, and the search finds names, classes and reasons', () => {
  expect(names(filterConnectors(rows, { search: 'NO table' }))).toEqual(['half'])
  expect(names(filterConnectors(rows, { search: 'files' }))).toEqual(['created'])
  expect(names(filterConnectors(rows, { state: 'UNASSIGNED', worker: 'a:8083' }))).toEqual(['waits'])
})

it('Subjects are found by context and by words of their names', () => {
  const subjects = ['orders-value', ':.team:orders-key', ':.team:a:b'].map(parseSubject)
  expect(subjects.map(({ context, name }) => `${context} ${name}`)).toEqual([
    '. orders-value',
    '.team orders-key',
    '.team a:b',
  ])
  const found = filterSubjectRows(
    subjects.map(({ qualified }) => subjectRow([qualified])),
    { context: '.team', search: 'key' },
    () => ({ topics: [], connectors: [] }),
  )
  expect(found).toMatchObject([subjects[1]])
})

it('Every name is one segment of a path', () => {
  for (const name of ['a/b?c#d', '\ud800', '\udc00x\ud83d', '🐘', '%2e%2e', ''])
    expect(pathSegment(name)).toMatch(/^[\w%.~!*'()-]*$/)
  expect(decodeURIComponent(pathSegment('🐘/\ud800'))).toBe('🐘/\ufffd')
})

it('Names that browsers resolve as directories do not lead to another object', () => {
  for (const name of ['.', '..']) {
    expect(isResolvedByBrowsers(`/connectors/${pathSegment(name)}/status?a=b`)).toBe(true)
    const path = `/subjects/${subjectSegment(name)}`
    expect(new URL(path, 'http://localhost').pathname).toBe(path)
    expect(decodeURIComponent(path)).toBe(`/subjects/:.:${name}`)
  }
  expect(isResolvedByBrowsers('/connectors/...?search=/../')).toBe(false)
})
