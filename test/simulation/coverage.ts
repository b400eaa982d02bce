import { globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'rolldown/parseAst'

// `NODE_V8_COVERAGE=DIRECTORY npm run simulate -- …`, then `npm run simulate:coverage -- DIRECTORY`: which branches of the code that coordinates
// the histories reach.

const ROOT = join(import.meta.dirname, '../..')
const FOLDERS = [
  'src/registry/leadership',
  'src/registry/commands',
  'src/worker/membership',
  'src/worker/herder',
  'src/worker/tasks',
  'src/operator/controller',
  'src/broker/state-topic',
]
/** What no world uses, as files or their functions. Unit and contract tests cover it. Branches of them that a world reaches count as reached. */
const UNUSED: Readonly<Record<string, readonly string[]>> = {
  'associations and tags': [
    'association-request',
    'change-associations',
    'change-tags',
    'register-schema addInheritedTags',
  ],
  'modes of contexts and of the registry': [
    'change-mode parseMode',
    'change-mode decideMode',
    'change-mode decideDeleteMode',
    'change-mode clearScope',
    'change-mode isInside',
    'mode-checks wrongMode',
  ],
  'references, and versions and IDs that requests name': [
    'assign-schema-id assignSchemaId',
    'delete-schema referrers',
    'register-schema findRegistered',
    'register-schema findEquivalentVersion',
    'register-schema completeSchema',
    'register-schema newVersion',
  ],
  'deferred eligibility, and addresses that collide': [
    'elect-leader electLeader',
    'group-protocol urlOf',
    'leader-election join',
    'leader-election #joined',
    'leader-election #revoked',
  ],
  'what a task does with one record': [
    'at-least-once-delivery #send',
    'connector-reports',
    'dead-letter-queue',
    'error-policy',
    'error-trace',
    'failed-source-record',
    'find-plugin',
    'pipeline-plugins',
    'plugin-step',
    'process-sink-records',
    'process-source-records',
    'record-pipeline',
    'remote-step',
    'step-factory',
    'stored-positions',
    'worker-source-task #openDelivery',
  ],
  'connectors with listeners, transactions, topics or positions of their own, or whose tasks change by themselves': [
    'at-least-once-delivery deliver',
    'exactly-once-delivery deliver',
    'exactly-once-delivery commit',
    'exactly-once-delivery #send',
    'source-poller listeners',
    'source-poller #start',
    'source-topic-reader',
    'task-clients topicReader',
    'task-clients requireServer',
    'task-config-updater run',
    'worker-sink-task #assigned',
    'worker-source-task #definesTransactions',
  ],
  'settings of clients, passwords and TLS': [
    'peer-client forward',
    'peer-client #demand',
    'peer-client #request',
    'peer-client isUnreached',
    'task-clients constructor',
    'task-clients offsetsProducer',
  ],
  'secrets, validation, views and metrics': [
    'group-read',
    'herder expanded',
    'herder taskStatus',
    'herder validate',
    'herder #validate',
    'herder #stored',
    'herder #toView',
    'leader-elector leader',
    'sink-delivery #countLatency',
    'started-task stateOf',
    'stored-task-config',
    'work-queue isIdle',
    'work-runner workerMetrics',
    'work-runner taskMetrics',
  ],
  'connectors that cannot start, and members of another kind': [
    'connect-protocol parseWorkerAssignment',
    'connect-protocol parseWorkerMetadata',
    'foreign-members',
    'task-starter start',
    'work-runner startConnector',
    'work-runner startTask',
    'work-runner #connectorFailed',
    'work-runner #setConnector',
  ],
  'suspension, exports, rights, reports of drift, unreadable objects, two resources of one name, and several runtimes':
    [
      'abandon-deletion abandonDeletion',
      'abandon-deletion hasTimedOut',
      'condition-events conditionEvents',
      'drift-fights toDriftFight',
      'error-outcome outcomeOfClusterError',
      'error-outcome outcomeOfRequestError',
      'reconcile-loop #export',
      'reconcile-loop #reportUnreadable',
      'reconcile-loop #resultFor',
      'select-owner',
      'work-queue #enqueue',
    ],
  'state topics that are deleted, cut or not readable': [
    'state-topic-checks',
    'state-topic #checkTopicId',
    'state-topic #fail',
    'state-topic #handleReadError',
    'state-topic #isDenial',
    'state-topic #isMissingBriefly',
    'state-topic markOpen',
    'state-topic #advance',
  ],
}

type Range = { readonly startOffset: number; readonly endOffset: number; readonly count: number }
type Script = { readonly url: string; readonly functions: readonly { readonly ranges: readonly Range[] }[] }
type Node = { readonly type: string; readonly start: number } & Readonly<Record<string, unknown>>
/** `default`: the value of something optional. `rejection`: it only throws an error. */
type Branch = {
  readonly start: number
  readonly kind: 'decision' | 'default' | 'rejection'
  /** The function or method that contains it. */
  readonly place?: string
}

const directories = process.argv.slice(2)
if (directories.length === 0) throw new Error('usage: node test/simulation/coverage.ts DIRECTORY...')
const scripts = directories
  .flatMap((directory) => readdirSync(directory).map((file) => readFileSync(join(directory, file), 'utf8')))
  .map((text): { readonly result: readonly Script[] } => JSON.parse(text))
  .flatMap(({ result }) => result)
  .filter(({ url }) => url.startsWith('file:'))
const ofFile = Map.groupBy(scripts, ({ url }) => fileURLToPath(url))

for (const folder of FOLDERS) {
  let [total, reached] = [0, 0]
  const missed = new Map<string, string[]>()
  for (const file of globSync(`${folder}/**/*.ts`, { cwd: ROOT }).toSorted()) {
    const text = readFileSync(join(ROOT, file), 'utf8')
    const runs = ofFile.get(join(ROOT, file)) ?? []
    for (const { start, kind, place = '' } of branchesOf(parseAst(text, { lang: 'ts' }) as unknown as Node)) {
      total += 1
      if (runs.some((run) => countAt(run, start) > 0)) reached += 1
      else {
        const name = unusedFeatureOf(file, place) ?? kind
        const places = missed.get(name) ?? []
        missed.set(name, [...places, `${file}:${text.slice(0, start).split('\n').length}`])
      }
    }
  }
  const decisions = missed.get('decision') ?? []
  const share = ((100 * reached) / (reached + decisions.length)).toFixed(0)
  const others = [...missed].filter(([name]) => name !== 'decision').map(([name, places]) => `${places.length} ${name}`)
  console.log(
    `${folder}: ${total} branches, ${reached} reached, ${decisions.length} decisions not (${share} %); ${others.join(', ')}`,
  )
  console.log(decisions.map((place) => `  ${place}`).join('\n'))
}

function unusedFeatureOf(file: string, place: string): string | undefined {
  const name = basename(file, '.ts')
  return Object.entries(UNUSED).find(([, places]) => places.includes(name) || places.includes(`${name} ${place}`))?.[0]
}

/** How often the code at an offset ran: the count of the smallest range that contains it. Types are stripped in place, so offsets stay. */
function countAt({ functions }: Script, offset: number): number {
  let smallest: Range | undefined
  for (const { ranges } of functions)
    for (const range of ranges) {
      const contains = range.startOffset <= offset && offset < range.endOffset
      if (contains && (smallest === undefined || sizeOf(range) <= sizeOf(smallest))) smallest = range
    }
  return smallest?.count ?? 0
}

function sizeOf({ startOffset, endOffset }: Range): number {
  return endOffset - startOffset
}

/** The alternatives of decisions. */
function branchesOf(node: Node, around = ''): readonly Branch[] {
  const place = nameOf(node) ?? around
  const children = Object.values(node).flatMap((value): readonly unknown[] => (Array.isArray(value) ? value : [value]))
  const own = alternativesOf(node).map((branch) => ({ ...branch, place }))
  return [...own, ...children.filter(isNode).flatMap((child) => branchesOf(child, place))]
}

/** Of a function or a method. */
function nameOf(node: Node): string | undefined {
  if (node.type !== 'FunctionDeclaration' && node.type !== 'MethodDefinition') return undefined
  const name = (node.type === 'MethodDefinition' ? node['key'] : node['id']) as Node
  return `${name.type === 'PrivateIdentifier' ? '#' : ''}${String(name['name'])}`
}

function alternativesOf(node: Node): readonly Branch[] {
  const of = (...names: string[]) => names.flatMap((name) => (isNode(node[name]) ? [branchAt(node[name])] : []))
  switch (node.type) {
    case 'IfStatement':
    case 'ConditionalExpression':
      return of('consequent', 'alternate')
    case 'LogicalExpression':
      return node['operator'] === '??' ? of('right').map(({ start }) => ({ start, kind: 'default' })) : of('right')
    case 'SwitchCase':
      return (node['consequent'] as readonly Node[]).slice(0, 1).map(branchAt)
    default:
      return []
  }
}

function branchAt(node: Node): Branch {
  return { start: node.start, kind: onlyThrows(node) ? 'rejection' : 'decision' }
}

function onlyThrows(node: Node | undefined): boolean {
  if (node?.type === 'BlockStatement') return onlyThrows((node['body'] as readonly Node[]).at(-1))
  return node?.type === 'ThrowStatement'
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}
