import { counted } from '../../common/counted.ts'
import {
  type ConditionReason,
  explainState,
  type StateWord,
  SYMPTOMS,
  type Symptom,
  type Tone,
} from '../../common/state-glossary.ts'
import type { ConnectorRow } from './connector-rows.ts'
import { needsAttention, type ReportedResource } from './resource-rows.ts'
import type { GroupLoads, WorkerRow } from './worker-rows.ts'

/** Something that somebody has to look at: what it is, why, and what to do. */
export type AttentionItem = {
  readonly tone: Tone
  /** A resource of another version of Weir can have a reason that the glossary lacks. */
  readonly state: StateWord | (string & {})
  readonly title: string
  readonly reason: string
  readonly nextStep: string
  /** Path and filters of the view that shows it. */
  readonly path: readonly string[]
  readonly filters: Readonly<Record<string, string>>
}

/** A worker or registry by its name in the configuration. */
type NamedRuntime = { readonly kind: 'worker' | 'registry'; readonly name: string }

/** Why a runtime cannot be read; the status is 0 if there is no response. */
type RuntimeFailure = { readonly status: number; readonly message: string }

/** `GET /ui/api/operator` */
export type OperatorReport = {
  /** Null where there is only one operator. */
  readonly leadership: { readonly identity: string; readonly leader?: string; readonly isForbidden: boolean } | null
  readonly isConfigValid: boolean
  readonly invalidRuntimes: readonly { readonly kind: string; readonly name: string; readonly error: string }[]
}

/** `GET /ui/api/status` of a worker. */
export type WorkerReport = {
  readonly pluginFaults: readonly PluginFault[]
  /** Classes of files that are used otherwise. They need no attention unless a configuration names them. */
  readonly unusedClasses: readonly PluginFault[]
}
type PluginFault = { readonly file: string; readonly reason: string }

/** `GET /ui/api/status` of a registry. */
export type RegistryLeadership = { readonly isLeader: boolean; readonly leader: string | null }

/** Records that a sink has not read; the alert WeirSinkLag has the same default. */
export const LAG_MAX = 100_000

/** Puts failures before warnings, and keeps the order otherwise. */
export function sortAttention(items: readonly AttentionItem[]): readonly AttentionItem[] {
  const rank = ({ tone }: AttentionItem) => (tone === 'bad' ? 0 : 1)
  return items.toSorted((a, b) => rank(a) - rank(b))
}

/** Maps a part of a trace to the remedy in docs/operate.md. */
const TRACE_STEPS: readonly (readonly [RegExp, string])[] = [
  [/exceeded the memory limit of its thread/, 'Use smaller batches, or raise worker.thread.memory.mb.'],
  [/exceeded the memory limit of its process/, 'Correct the configuration, or raise worker.plugin.memory.mb.'],
  [/did not return within/, 'Correct the configuration or the plugin, or raise worker.plugin.timeout.ms.'],
  [
    /blocked its thread/,
    'Correct the plugin, which must not compute or wait for long without await, or raise worker.thread.blocked.max.ms.',
  ],
  [
    /did not start within/,
    'Restore the broker and the system that the connector connects to, or raise worker.task.start.timeout.ms.',
  ],
  [
    /ended its process by SIGKILL/,
    'If the kernel ended it for lack of memory (OOMKilled), use smaller batches, or raise worker.resources.limits.memory.',
  ],
  [
    /corrupt_batch|cannot be read: its checksum/,
    'Restore the partition and restart the task, or stop the connector and set its offset past the damaged batch.',
  ],
]
/** Connectors and tasks that failed or that no worker runs. */
export function attentionOfConnectors(runtime: NamedRuntime, rows: readonly ConnectorRow[]): readonly AttentionItem[] {
  return rows.flatMap(({ name, state, reason, tasks, failedTasks }): readonly AttentionItem[] => {
    const link = { path: ['connectors', name], filters: { runtime: runtime.name } }
    if (state === 'FAILED') {
      const what = failedTasks > 0 ? `${counted(failedTasks, 'task')} failed` : 'the connector failed'
      const known = TRACE_STEPS.find(([pattern]) => pattern.test(reason))
      return [
        { tone: 'bad', state, title: name, reason: reason || what, nextStep: known?.[1] ?? remedyOf(state), ...link },
      ]
    }
    if (state !== 'UNASSIGNED') return []
    return [
      {
        tone: 'waiting',
        state,
        title: name,
        reason: reason || `No worker runs it (${tasks} tasks run).`,
        nextStep: remedyOf(state),
        ...link,
      },
    ]
  })
}

/**
 * Sinks that lag, and connectors whose records fail, by the metrics of their workers. `withDeadLetters` are the names of the
 * connectors with a dead-letter topic.
 */
export function attentionOfLoads(
  runtime: NamedRuntime,
  rows: readonly ConnectorRow[],
  withDeadLetters: ReadonlySet<string>,
): readonly AttentionItem[] {
  return rows.flatMap(({ name, load }): readonly AttentionItem[] => {
    const { lag = 0, errors = 0 } = load ?? {}
    const link = { title: name, filters: { runtime: runtime.name } } as const
    return [
      ...(lag > LAG_MAX
        ? [
            {
              ...{ ...link, ...symptom('LAGGING'), path: ['connectors', name, 'metrics'] },
              reason: `A partition has ${counted(lag, 'record')} that the sink has not read.`,
            },
          ]
        : []),
      ...(errors > 0
        ? [
            {
              ...link,
              ...symptom(withDeadLetters.has(name) ? 'DEAD LETTERS' : 'ERRORS'),
              path: ['connectors', name, withDeadLetters.has(name) ? 'dead-letters' : 'log'],
              reason: `${counted(errors, 'record')} failed in the last hour.`,
            },
          ]
        : []),
    ]
  })
}

/** Reasons that the state of the connector itself shows better, with its trace. */
const SHOWN_BY_CONNECTOR: ReadonlySet<string> = new Set<ConditionReason>([
  'ConnectorFailed',
  'TaskFailed',
  'Rebalancing',
])
const UNREACHABLE: ReadonlySet<string> = new Set<ConditionReason>(['WorkerUnreachable', 'RegistryUnreachable'])

/**
 * Resources that are not Ready, or differ from their runtime. `shown` has the connectors that are in the list already, as
 * `runtime/name`. Those of a runtime that does not respond are one item.
 */
export function attentionOfResources(
  resources: readonly ReportedResource[],
  shown: ReadonlySet<string>,
): readonly AttentionItem[] {
  // While a runtime does not respond, Ready is Unknown.
  const found = resources.filter((one) => needsAttention(one) || UNREACHABLE.has(one.reason) || one.drift !== undefined)
  const waiting = Map.groupBy(
    found.filter(({ reason }) => UNREACHABLE.has(reason)),
    ({ reason, runtime = '' }) => `${reason} ${runtime}`,
  )
  const others = found.flatMap((one): readonly AttentionItem[] => {
    const { reason, runtime, object, drift } = one
    if (UNREACHABLE.has(reason)) return []
    const isShown = SHOWN_BY_CONNECTOR.has(reason) && shown.has(`${runtime}/${object}`)
    return [
      ...(needsAttention(one) && !isShown ? [itemOf(one)] : []),
      ...(drift !== undefined && reason !== 'Drifted' ? [driftOf(one, drift)] : []),
    ]
  })
  return [...[...waiting.values()].map(unreachable), ...others]
}

function unreachable(waiting: readonly ReportedResource[]): AttentionItem {
  const [{ reason, message, ready, runtime = '' } = { reason: '', message: '', ready: '' }] = waiting
  const kind = reason === 'WorkerUnreachable' ? 'worker' : 'registry'
  return {
    tone: 'bad',
    state: reason,
    title: `${waiting.length} ${waiting.length === 1 ? 'resource waits' : 'resources wait'} for the ${kind} ${runtime}`,
    reason: message,
    nextStep: remedyOf(reason),
    path: ['resources'],
    filters: { ready },
  }
}

function itemOf(resource: ReportedResource): AttentionItem {
  const { reason, message, drift } = resource
  return {
    tone: reason === 'Deleting' ? 'waiting' : 'bad',
    state: reason,
    reason: message,
    nextStep: remedyOf(reason),
    ...titleAndLink(resource, drift === undefined ? [] : ['declared']),
  }
}

function driftOf(resource: ReportedResource, drift: string): AttentionItem {
  const state: ConditionReason = 'Drifted'
  return { tone: 'waiting', state, reason: drift, nextStep: remedyOf(state), ...titleAndLink(resource, ['declared']) }
}

function titleAndLink(
  { kind, namespace, name, runtime = '', object }: ReportedResource,
  section: readonly string[],
): Pick<AttentionItem, 'title' | 'path' | 'filters'> {
  const views: Readonly<Record<string, string>> = { Connector: 'connectors', Subject: 'subjects' }
  const view = views[kind]
  const title = `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`
  return view === undefined || object === undefined
    ? { title, path: ['resources'], filters: { search: name } }
    : { title, path: [view, object, ...section], filters: { runtime } }
}

/** A runtime that does not respond, or refuses. */
export function attentionOfRuntime(
  { kind, name }: NamedRuntime,
  failure: RuntimeFailure | undefined,
): readonly AttentionItem[] {
  // A page asks for credentials after a 401.
  if (failure === undefined || failure.status === 401) return []
  const isRefused = failure.status === 403
  return [
    {
      ...symptom(isRefused ? 'REFUSED' : 'DOWN'),
      title: `${kind === 'worker' ? 'Worker' : 'Registry'} ${name}`,
      reason: failure.message,
      path: [kind === 'worker' ? 'connectors' : 'subjects'],
      filters: { runtime: name },
    },
  ]
}

/**
 * Workers that have left without a message, such as killed ones: the statuses of what they ran stay as they were until another
 * worker takes it over. Nothing is known while a worker does not respond.
 */
export function attentionOfWorkers(
  { name }: NamedRuntime,
  workers: readonly WorkerRow[],
  group: GroupLoads | undefined,
): readonly AttentionItem[] {
  if (group === undefined || (group.missing?.length ?? 0) > 0) return []
  const known = new Set(group.workers.map(({ worker }) => worker))
  return workers
    .filter(({ worker }) => !known.has(worker))
    .map(({ worker, connectors, tasks }) => ({
      ...symptom('WORKER LEFT'),
      title: `Worker ${worker}`,
      reason: `It is not in the group: nothing runs its ${counted(tasks, 'task')} and ${counted(connectors, 'connector')}, whatever their states say.`,
      path: ['connectors'],
      filters: { runtime: name, worker },
    }))
}

/** Plugins that a worker could not load. It runs without them. */
export function attentionOfPlugins({ name }: NamedRuntime, report: WorkerReport | undefined): readonly AttentionItem[] {
  return (report?.pluginFaults ?? []).map(({ file, reason }) => ({
    ...symptom('NOT LOADED'),
    title: `Plugin ${file}`,
    reason,
    path: ['connectors'],
    filters: { runtime: name },
  }))
}

/** A registry without a leader serves reads and refuses writes with 503. */
export function attentionOfLeadership(
  { name }: NamedRuntime,
  leadership: RegistryLeadership | undefined,
): readonly AttentionItem[] {
  if (leadership === undefined || leadership.isLeader || leadership.leader !== null) return []
  return [
    {
      ...symptom('NO LEADER'),
      title: `Registry ${name}`,
      reason: 'No instance is the leader, so schemas can be read and not registered.',
      path: ['subjects'],
      filters: { runtime: name },
    },
  ]
}

/** An operator that cannot reconcile. */
export function attentionOfOperator(state: OperatorReport | undefined): readonly AttentionItem[] {
  if (state === undefined) return []
  const { leadership, isConfigValid, invalidRuntimes } = state
  const found = (word: Symptom, title: string, reason: string): AttentionItem => ({
    ...{ ...symptom(word), title, reason },
    ...{ path: ['resources'], filters: {} },
  })
  const problems: AttentionItem[] = []
  if (leadership?.isForbidden) {
    const reason = 'This replica may not read or write the Lease, so it can never become active.'
    problems.push(found('FORBIDDEN', 'Operator', reason))
  } else if (leadership && leadership.leader === undefined) {
    problems.push(found('NO LEADER', 'Operator', 'No replica holds the Lease, so nothing is reconciled.'))
  }
  if (!isConfigValid) {
    const reason = 'Its configuration cannot be read; the last valid one stays in force.'
    problems.push(found('INVALID', 'Operator', reason))
  }
  return [
    ...problems,
    ...invalidRuntimes.map(({ kind, name, error }) => found('INVALID', `The operator's ${kind} ${name}`, error)),
  ]
}

/** What the glossary says of a symptom. */
function symptom(state: Symptom): Pick<AttentionItem, 'tone' | 'state' | 'nextStep'> {
  const { tone, remedy } = SYMPTOMS[state]
  return { tone, state, nextStep: remedy }
}

function remedyOf(state: string): string {
  return explainState(state)?.remedy ?? 'Read the message, and change the resource.'
}
