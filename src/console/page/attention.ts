import type { ConnectorRow } from './connector-rows.ts'
import { needsAttention, type ReportedResource } from './resource-rows.ts'
import type { GroupLoads, WorkerRow } from './worker-rows.ts'

/** Something that somebody has to look at: what it is, why, and what to do. */
export type AttentionItem = {
  /** `bad`: something does not work. `waiting`: it may resolve itself, or is a difference that is permitted. */
  readonly tone: 'bad' | 'waiting'
  /** A state such as FAILED. */
  readonly state: string
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
  [/replaced JavaScript built-ins/, 'Report to the author of the plugin that it replaces built-ins of JavaScript.'],
  [
    /corrupt_batch|cannot be read: its checksum/,
    'Restore the partition and restart the task, or stop the connector and set its offset past the damaged batch.',
  ],
]
const FAILED_STEP = 'Correct the configuration or what the trace names, then restart what has failed.'
const UNASSIGNED_STEP =
  'Wait for the rebalance. If it persists, find out why workers do not join: check Kafka, the group and certificates.'

/** Connectors and tasks that failed or that no worker runs. */
export function attentionOfConnectors(runtime: NamedRuntime, rows: readonly ConnectorRow[]): readonly AttentionItem[] {
  return rows.flatMap(({ name, state, reason, tasks, failedTasks }): readonly AttentionItem[] => {
    const link = { path: ['connectors', name], filters: { runtime: runtime.name } }
    if (state === 'FAILED') {
      const what = failedTasks > 0 ? `${failedTasks} tasks failed` : 'the connector failed'
      const known = TRACE_STEPS.find(([pattern]) => pattern.test(reason))
      return [{ tone: 'bad', state, title: name, reason: reason || what, nextStep: known?.[1] ?? FAILED_STEP, ...link }]
    }
    if (state !== 'UNASSIGNED') return []
    return [
      {
        tone: 'waiting',
        state,
        title: name,
        reason: `No worker runs it (${tasks} tasks run).`,
        nextStep: UNASSIGNED_STEP,
        ...link,
      },
    ]
  })
}

const DEAD_LETTERS = {
  state: 'DEAD LETTERS',
  nextStep: 'Read why they failed, correct the cause or the records, and replay them.',
} as const
const SKIPPED_RECORDS = {
  state: 'ERRORS',
  nextStep: 'Read the log for the reason. Without errors.deadletterqueue.topic.name, the records are not kept.',
} as const

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
    const link = { tone: 'waiting', title: name, filters: { runtime: runtime.name } } as const
    return [
      ...(lag > LAG_MAX
        ? [
            {
              ...{ ...link, state: 'LAGGING', path: ['connectors', name, 'metrics'] },
              reason: `A partition has ${lag.toLocaleString('en')} records that the sink has not read.`,
              nextStep: 'If the lag grows, add tasks (no more than the topics have partitions), then workers.',
            },
          ]
        : []),
      ...(errors > 0
        ? [
            {
              ...link,
              ...(withDeadLetters.has(name) ? DEAD_LETTERS : SKIPPED_RECORDS),
              path: ['connectors', name, withDeadLetters.has(name) ? 'dead-letters' : 'log'],
              reason: `${errors.toLocaleString('en')} records failed in the last hour.`,
            },
          ]
        : []),
    ]
  })
}

const RESOURCE_STEPS: Readonly<Record<string, string>> = {
  ConfigInvalid: 'Correct the field that the message names.',
  PluginNotFound: 'Correct the class, or install the plugin on the workers.',
  ConnectorFailed: FAILED_STEP,
  TaskFailed: FAILED_STEP,
  AutoRestartExhausted: 'Correct the cause, then request a restart: automatic restarts have ended.',
  Rebalancing: UNASSIGNED_STEP,
  WorkerUnreachable: 'Make the worker available; the operator continues by itself.',
  RegistryUnreachable: 'Make the registry and Kafka available; the operator continues by itself.',
  RegistryReadOnly: 'End the mode of the registry, or wait for the end of its window.',
  WaitingForImportMode: 'Declare a RegistryMode with mode IMPORT.',
  Unauthorized: "Correct the credentials of the runtime in the operator's configuration.",
  Forbidden: "Give the operator's user of the runtime the permission that the message names.",
  UnknownCluster: "Correct workerRef or registryRef, or add the runtime to the operator's configuration.",
  ClusterConfigInvalid: "Correct the entry of the runtime in the operator's configuration.",
  NotAllowed:
    "Use a runtime, subject or context that the namespace may use, or allow it in the operator's configuration.",
  ProtectedName: 'Choose another name for the connector.',
  Conflict: 'Change the name in one of the resources, or delete one.',
  AlreadyExists: 'Set adoptionPolicy: Adopt to take it over, or choose another name.',
  AdoptionRefused: 'Declare what exists, or set adoptionPolicy: Adopt.',
  Incompatible: 'Give new fields a default, or lower the compatibility level deliberately.',
  SchemaInvalid: 'Correct the schema at the place that the message names.',
  SchemaTooLarge: 'Divide the schema into several with references.',
  ReferenceNotFound: 'Declare the subject that it refers to, or correct the name.',
  ReferenceInvalid: 'Correct the reference that the message names.',
  ReferenceCycle: 'Remove one of the references of the cycle.',
  ReferencePending: 'Wait until the subject that it refers to is registered.',
  WaitingForInput: 'Create the ConfigMap or Secret that the message names.',
  InputMissing: 'Create the ConfigMap or Secret that the message names again.',
  WaitingForSubject: 'Make the Subject that the message names Ready.',
  ImportConflict: 'Correct the IDs and versions to import.',
  ScopeNotEmpty: 'Use another context, or set force: true.',
  OffsetsRejected: 'Correct spec.offsets.operation.',
  Missing: 'Create it again with driftPolicy: Correct, or delete the resource.',
  Drifted: 'Compare it with what is declared.',
  DriftFight: 'Find out who changes it besides the operator, such as another tool or operator.',
  Deleting: 'Wait for the runtime; or set the annotation weir.dev/force-delete: "true", which leaves the object there.',
  DeletionBlocked: 'Remove what the message names.',
  InternalError: 'Read the log of the operator, and report it.',
}
/** Reasons that the state of the connector itself shows better, with its trace. */
const SHOWN_BY_CONNECTOR: ReadonlySet<string> = new Set(['ConnectorFailed', 'TaskFailed', 'Rebalancing'])
const UNREACHABLE: ReadonlySet<string> = new Set(['WorkerUnreachable', 'RegistryUnreachable'])

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
    nextStep: RESOURCE_STEPS[reason] ?? '',
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
    nextStep: RESOURCE_STEPS[reason] ?? 'Read the message, and change the resource.',
    ...titleAndLink(resource, drift === undefined ? [] : ['declared']),
  }
}

function driftOf(resource: ReportedResource, drift: string): AttentionItem {
  const nextStep = RESOURCE_STEPS['Drifted'] ?? ''
  return { tone: 'waiting', state: 'Drifted', reason: drift, nextStep, ...titleAndLink(resource, ['declared']) }
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
      tone: 'bad',
      state: isRefused ? 'REFUSED' : 'DOWN',
      title: `${kind === 'worker' ? 'Worker' : 'Registry'} ${name}`,
      reason: failure.message,
      nextStep: isRefused
        ? 'Log in as a user who may read it.'
        : 'Check its pods, its Service, network policies and its log. What it runs elsewhere in its group continues.',
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
      tone: 'waiting',
      state: 'WORKER LEFT',
      title: `Worker ${worker}`,
      reason: `It is not in the group: nothing runs its ${tasks} tasks and ${connectors} connectors, whatever their states say.`,
      nextStep:
        'Start it again, or wait for scheduled.rebalance.max.delay.ms. If it was OOMKilled, raise worker.resources.limits.memory.',
      path: ['connectors'],
      filters: { runtime: name, worker },
    }))
}

/** Plugins that a worker could not load. It runs without them. */
export function attentionOfPlugins({ name }: NamedRuntime, report: WorkerReport | undefined): readonly AttentionItem[] {
  return (report?.pluginFaults ?? []).map(({ file, reason }) => ({
    tone: 'bad',
    state: 'NOT LOADED',
    title: `Plugin ${file}`,
    reason,
    nextStep: 'Correct the module, or raise worker.plugin.load.timeout.ms, and restart the worker.',
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
      tone: 'bad',
      state: 'NO LEADER',
      title: `Registry ${name}`,
      reason: 'No instance is the leader, so schemas can be read and not registered.',
      nextStep: 'Make Kafka available; the registry then elects a leader.',
      path: ['subjects'],
      filters: { runtime: name },
    },
  ]
}

/** An operator that cannot reconcile. */
export function attentionOfOperator(state: OperatorReport | undefined): readonly AttentionItem[] {
  if (state === undefined) return []
  const { leadership, isConfigValid, invalidRuntimes } = state
  const link = { tone: 'bad', path: ['resources'], filters: {} } as const
  const problems: {
    readonly title: string
    readonly state: string
    readonly reason: string
    readonly nextStep: string
  }[] = []
  if (leadership?.isForbidden) {
    problems.push({
      ...{ title: 'Operator', state: 'FORBIDDEN' },
      reason: 'This replica may not read or write the Lease, so it can never become active.',
      nextStep: 'Grant the privilege that its log names.',
    })
  } else if (leadership && leadership.leader === undefined) {
    problems.push({
      ...{ title: 'Operator', state: 'NO LEADER' },
      reason: 'No replica holds the Lease, so nothing is reconciled.',
      nextStep: 'Wait 15 seconds for the election; then read the log of the replicas.',
    })
  }
  if (!isConfigValid) {
    problems.push({
      ...{ title: 'Operator', state: 'INVALID' },
      reason: 'Its configuration cannot be read; the last valid one stays in force.',
      nextStep: 'Correct the configuration; the log names the place.',
    })
  }
  for (const { kind, name, error } of invalidRuntimes) {
    problems.push({
      ...{ title: `The operator's ${kind} ${name}`, state: 'INVALID', reason: error },
      nextStep: `Correct the entry in the operator's configuration. Only resources that use it are affected.`,
    })
  }
  return problems.map((problem) => ({ ...problem, ...link }))
}
