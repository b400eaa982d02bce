import type { GroupDescription } from '../../broker/broker.ts'
import { type ConnectorStateInfo, hasNoWork } from '../../clients/worker-client.ts'
import { TRANSIENT_STATES } from '../../common/state-glossary.ts'
import type { Takeover, TakeoverGoal, TakeoverStep } from './takeover.ts'

/** What the REST API of a worker of the group says; undefined if no worker can be reached. */
export type GroupConnectors = readonly GroupConnector[] | undefined
export type GroupConnector = {
  readonly name: string
  readonly class: string
  readonly status: ConnectorStateInfo | undefined
  /** Number of partitions with a stored offset; undefined if they cannot be read. */
  readonly offsets: number | undefined
}

export type WorkerTakeoverInput = {
  readonly group: GroupDescription
  readonly connectors: GroupConnectors
  /** Why the connectors are not known. */
  readonly problem?: string | undefined
  /** The storage topics that do not exist. */
  readonly missingTopics: readonly string[]
  /** All names of the plugin of a connector class that Weir has without further installation; empty if it has none. */
  readonly namesOf: (className: string) => readonly string[]
}

/** Weir's workers use protocol names of their own, so that workers of both kinds never share a group. */
const WEIR_PROTOCOL = /^weir-/

/** The takeover of a Connect group: its workers stop, and Weir's start with the same topics. The return is the reverse. */
export function workerTakeover(input: WorkerTakeoverInput, goal: TakeoverGoal = 'takeover'): Takeover {
  const { group, missingTopics } = input
  const isWeir = WEIR_PROTOCOL.test(group.protocol)
  const members = group.members.length
  const hasWeir = members > 0 && isWeir
  const hasOthers = members > 0 && !isWeir
  return {
    goal,
    facts: [
      `Group ${group.groupId}: ${group.state}, ${hasOthers ? members : 0} workers of Kafka Connect, ${hasWeir ? members : 0} of Weir.`,
      ...group.members.map(({ metadata }) => `  ${workerUrl(metadata)}`),
      missingTopics.length === 0
        ? 'Its storage topics exist.'
        : `Storage topics that do not exist: ${missingTopics.join(', ')}.`,
      ...describeConnectors(input),
    ],
    steps: goal === 'takeover' ? takeoverSteps(input, hasOthers, hasWeir) : returnSteps(input, hasOthers, hasWeir),
  }
}

const RESTART_OTHERS =
  "Stop Weir's workers, then start the workers of Kafka Connect: connectors continue at their offsets."
const RESTART_WEIR = "Stop the workers of Kafka Connect, then start Weir's: connectors continue at their offsets."

function takeoverSteps(input: WorkerTakeoverInput, hasOthers: boolean, hasWeir: boolean): readonly TakeoverStep[] {
  const { connectors } = input
  const foreign = (connectors ?? []).filter(({ class: name }) => input.namesOf(name).length === 0)
  return [
    {
      action:
        foreign.length === 0
          ? 'Check that Weir has a plugin for each connector class.'
          : `Install the jars of these classes in plugin.path of Weir's workers: ${[...new Set(foreign.map(({ class: name }) => name))].join(', ')}.`,
      isDone: hasWeir || (connectors !== undefined && foreign.length === 0),
      back: 'Nothing has changed yet.',
    },
    {
      action:
        'Stop all workers of Kafka Connect. One that was killed counts as a member until its session.timeout.ms is over.',
      isDone: !hasOthers,
      back: 'Start the workers of Kafka Connect again: connectors continue at their offsets.',
    },
    {
      action: 'Start `weir worker` with the same settings file, and so with the same group.id and topics.',
      isDone: hasWeir,
      back: RESTART_OTHERS,
    },
    { ...settledStep(connectors, hasWeir), back: RESTART_OTHERS },
  ]
}

function returnSteps(
  { connectors, namesOf }: WorkerTakeoverInput,
  hasOthers: boolean,
  hasWeir: boolean,
): readonly TakeoverStep[] {
  const own = (connectors ?? []).flatMap(({ name, class: className }) => {
    const java = javaClassOf(className, namesOf(className))
    return java === className ? [] : [`${name} (${className}, ${java ?? 'which has no counterpart'})`]
  })
  return [
    {
      action:
        own.length === 0
          ? 'Check that Kafka Connect has a plugin for each connector class.'
          : `Declare these connectors with a class that Kafka Connect knows, and its keys: ${own.join(', ')}.`,
      isDone: hasOthers || own.length === 0,
      back: 'Nothing has changed yet.',
    },
    {
      action:
        "Stop all of Weir's workers. One that was killed counts as a member until its session.timeout.ms is over.",
      isDone: !hasWeir,
      back: "Start Weir's workers again: connectors continue at their offsets.",
    },
    {
      action:
        'Start the workers of Kafka Connect with the same settings file, and so with the same group.id and topics.',
      isDone: hasOthers,
      back: RESTART_WEIR,
    },
    { ...settledStep(connectors, hasOthers), back: RESTART_WEIR },
  ]
}

/**
 * The class of a connector in Kafka Connect, which also finds a class by its simple name, with or without `Connector` at its end.
 * Undefined if only Weir has it.
 */
function javaClassOf(className: string, names: readonly string[]): string | undefined {
  if (names.length === 0 || className.includes('.')) return className
  const javaNames = names.filter((name) => name.includes('.'))
  const isShortName = javaNames.some((name) => simpleName(name) === className.replace(/Connector$/, ''))
  return isShortName ? className : javaNames[0]
}

function simpleName(className: string): string {
  return className.slice(className.lastIndexOf('.') + 1).replace(/Connector$/, '')
}

/** The last step in both directions. */
function settledStep(connectors: GroupConnectors, hasWorkers: boolean): Omit<TakeoverStep, 'back'> {
  const unsettled = (connectors ?? []).filter(({ status }) => !isSettled(status))
  return {
    action:
      unsettled.length === 0
        ? 'Check that every connector and task has the state that it should have.'
        : `Wait for, or mend, the connectors that do not run: ${unsettled.map(({ name }) => name).join(', ')}.`,
    isDone: hasWorkers && connectors !== undefined && unsettled.length === 0,
  }
}

/** URL of a worker: after the version, with which the metadata of both kinds of workers begins. */
export function workerUrl(metadata: Uint8Array): string {
  const bytes = Buffer.from(metadata)
  return bytes.length < 4 ? '' : bytes.toString('utf8', 4, 4 + bytes.readInt16BE(2))
}

function describeConnectors({ connectors, problem }: WorkerTakeoverInput): readonly string[] {
  if (connectors === undefined) return [`Connectors: not known, because ${problem}.`]
  const lines = connectors.map(({ name, class: className, status, offsets }) => {
    const tasks = status?.tasks.map(({ state }) => state).join(', ') || 'none'
    const stored = offsets === undefined ? 'offsets unknown' : `${offsets} offsets`
    return `  ${name}: ${className}, ${status?.connector.state ?? 'no status'}, tasks ${tasks}, ${stored}`
  })
  return [`Connectors: ${connectors.length}.`, ...lines]
}

/** Paused and stopped connectors are where somebody wants them to be. */
function isSettled(status: ConnectorStateInfo | undefined): boolean {
  if (status === undefined) return false
  const states = [status.connector.state, ...status.tasks.map(({ state }) => state)]
  const isComplete = status.connector.state !== 'RUNNING' || status.tasks.length > 0 || hasNoWork(status)
  return isComplete && !states.some((state) => state === 'FAILED' || TRANSIENT_STATES.has(state))
}
