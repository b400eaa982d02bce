/**
 * Every word by which Weir names a state: what it means and what to do. The console, the table of `weir up`, the conditions and columns of
 * the resources, the REST API of the worker and the documentation take their words from here.
 */
export type StateEntry = { readonly meaning: string; readonly remedy: string }
/** `waiting`: it may resolve itself, or is a difference that is permitted. */
export type Tone = 'good' | 'idle' | 'waiting' | 'bad'
export type ToneEntry = StateEntry & { readonly tone: Tone }

const NOTHING = 'Nothing.'
const FAILED = 'Correct the configuration or what the trace names, then restart what has failed.'
const UNASSIGNED =
  'Wait for the rebalance. If it persists, find out why workers do not join: check Kafka, the group and certificates.'
const WORKING: StateEntry = { meaning: 'The operator or the runtime is working on it.', remedy: NOTHING }

/** States of connectors and tasks, in the words of Kafka Connect. The most urgent ones are first. */
export const CONNECTOR_STATES = {
  FAILED: { tone: 'bad', meaning: 'An error has ended it; its trace has the reason.', remedy: FAILED },
  UNASSIGNED: { tone: 'waiting', meaning: 'No worker runs it.', remedy: UNASSIGNED },
  RESTARTING: { tone: 'waiting', meaning: 'It has been stopped and starts again.', remedy: NOTHING },
  PAUSED: {
    tone: 'idle',
    meaning: 'It keeps its tasks and processes no records.',
    remedy: 'Resume it when it should continue.',
  },
  STOPPED: {
    tone: 'idle',
    meaning: 'It has no tasks; its offsets can be changed.',
    remedy: 'Resume it when it should continue.',
  },
  RUNNING: { tone: 'good', meaning: 'It processes records.', remedy: NOTHING },
  DESTROYED: { tone: 'idle', meaning: 'It was deleted.', remedy: NOTHING },
} as const satisfies Readonly<Record<string, ToneEntry>>
export type RunState = keyof typeof CONNECTOR_STATES

/** A connector or task leaves these by itself. */
export const TRANSIENT_STATES: ReadonlySet<string> = new Set<RunState>(['UNASSIGNED', 'RESTARTING'])

/** Reasons of the condition Ready: a closed list, part of the API of the resources. */
export const CONDITION_REASONS = {
  Succeeded: { meaning: 'The declared state is in force.', remedy: NOTHING },
  Pending: WORKING,
  Progressing: WORKING,
  Creating: WORKING,
  Updating: WORKING,
  Resuming: WORKING,
  Pausing: WORKING,
  Stopping: WORKING,
  Restarting: WORKING,
  AlteringOffsets: WORKING,
  Registering: WORKING,
  Deleting: {
    meaning: 'Its manifest was deleted, and the operator is deleting what it declared.',
    remedy:
      'Wait for the runtime; or set the annotation weir.dev/force-delete: "true", which leaves the object in the runtime.',
  },
  DeletionBlocked: { meaning: 'Something still refers to it.', remedy: 'Remove what the message names.' },
  WaitingForInput: {
    meaning: 'A Secret, a ConfigMap or a key that it references does not exist.',
    remedy: 'Create the ConfigMap or Secret that the message names.',
  },
  InputMissing: {
    meaning: 'A Secret, a ConfigMap or a key that it used was deleted; what was applied stays.',
    remedy: 'Create the ConfigMap or Secret that the message names again.',
  },
  WaitingForSubject: {
    meaning: 'A Subject of subjectRefs is not Ready.',
    remedy: 'Make the Subject that the message names Ready.',
  },
  ReferencePending: {
    meaning: 'A referenced schema is not registered yet.',
    remedy: 'Wait until the subject that it refers to is registered.',
  },
  ReferenceNotFound: {
    meaning: 'A referenced schema does not exist.',
    remedy: 'Declare the subject that it refers to, or correct the name.',
  },
  ReferenceInvalid: {
    meaning: 'A reference cannot be resolved.',
    remedy: 'Correct the reference that the message names.',
  },
  ReferenceCycle: {
    meaning: 'References are circular; the message shows the cycle.',
    remedy: 'Remove one of the references of the cycle.',
  },
  WaitingForImportMode: {
    meaning: 'It declares an ID, and the registry is not in mode IMPORT.',
    remedy: 'Declare a RegistryMode with mode IMPORT for the time of the import.',
  },
  UnknownCluster: {
    meaning: "The operator's configuration has no entry for the runtime that it uses.",
    remedy: "Correct workerRef or registryRef, or add the runtime to the operator's configuration.",
  },
  ClusterConfigInvalid: {
    meaning: "The entry of its runtime in the operator's configuration is invalid.",
    remedy: "Correct the entry of the runtime in the operator's configuration.",
  },
  NotAllowed: {
    meaning: 'Its namespace may not use the runtime or the name, or a secret would be sent in plain text.',
    remedy:
      "Use a runtime, subject or context that the namespace may use, or allow it in the operator's configuration.",
  },
  ProtectedName: {
    meaning: 'The name of the connector is reserved.',
    remedy: 'Choose another name for the connector.',
  },
  Conflict: {
    meaning:
      'Two resources declare the same name, and the older one has it; or a resource that was deleted left the connector.',
    remedy: 'Change the name in one of the resources, or delete one; or take it over.',
  },
  AlreadyExists: {
    meaning: 'It already exists, and something else manages it.',
    remedy: 'Set adoptionPolicy: Adopt to take it over, or choose another name.',
  },
  AlreadySet: {
    meaning: 'The mode is already set, and something else manages it.',
    remedy: 'Set adoptionPolicy: Adopt to take it over, or remove the mode.',
  },
  AdoptionRefused: {
    meaning: 'It already exists, and differs from what is declared.',
    remedy: 'Declare what exists, or set adoptionPolicy: Adopt.',
  },
  ConfigInvalid: {
    meaning: 'The manifest is invalid, or the worker rejects the configuration.',
    remedy: 'Correct the field that the message names.',
  },
  UnsupportedSpec: {
    meaning:
      'Its spec is of a newer or older definition than the operator, which cannot read it; fields that it does not know are ignored.',
    remedy: 'Correct the field in the message, or install the operator of the same version as the definitions.',
  },
  PluginNotFound: {
    meaning: 'The worker does not have the class.',
    remedy: 'Correct the class, or install the plugin on the workers, which is noticed within observeInterval.',
  },
  ConnectorFailed: { meaning: 'The connector failed; its trace has the reason.', remedy: FAILED },
  TaskFailed: { meaning: 'A task failed; status.failedTasks has its trace.', remedy: FAILED },
  NoTasks: {
    meaning:
      "The connector is running without tasks, and its worker does not say why: it has not made any yet, or it has nothing to do. Weir's worker says when the connector has nothing to do, and then it is Ready; Kafka Connect does not.",
    remedy: 'Nothing, if it will have work; otherwise check what it reads, and the log of the worker.',
  },
  AutoRestartExhausted: {
    meaning: 'It failed, also after all automatic restarts.',
    remedy: 'Correct the cause, then request a restart: automatic restarts have ended.',
  },
  Rebalancing: { meaning: 'The workers are rebalancing.', remedy: UNASSIGNED },
  WorkerUnreachable: {
    meaning: 'The worker is unavailable (if the resource was Ready, for longer than healthGrace).',
    remedy: 'Make the worker available; the operator continues by itself.',
  },
  RegistryUnreachable: {
    meaning: 'The registry is unavailable (if the resource was Ready, for longer than healthGrace).',
    remedy: 'Make the registry and Kafka available; the operator continues by itself.',
  },
  RegistryReadOnly: {
    meaning: 'The mode of the registry permits no changes.',
    remedy: 'End the mode of the registry, or wait for the end of its window.',
  },
  Unauthorized: {
    meaning: "The runtime does not accept the operator's credentials.",
    remedy: "Correct the credentials of the runtime in the operator's configuration.",
  },
  Forbidden: {
    meaning: 'The runtime or the API server denies access to the operator.',
    remedy: "Give the operator's user of the runtime the permission that the message names.",
  },
  Drifted: {
    meaning: 'It was changed in the runtime, and driftPolicy is Report.',
    remedy: 'Compare it with what is declared. driftPolicy: Correct reverts such changes.',
  },
  DriftFight: {
    meaning: 'It was corrected three times in ten minutes; now it is corrected every five minutes only.',
    remedy: 'Find out who changes it besides the operator, such as another tool or operator.',
  },
  Missing: {
    meaning: 'It was deleted in the runtime, and driftPolicy is Report.',
    remedy: 'Create it again with driftPolicy: Correct, or delete the resource.',
  },
  OffsetsRejected: { meaning: 'The worker rejects the offsets.', remedy: 'Correct spec.offsets.operation.' },
  SchemaInvalid: {
    meaning: 'The registry cannot parse the schema.',
    remedy: 'Correct the schema at the place that the message names.',
  },
  SchemaTooLarge: { meaning: 'The schema is too long.', remedy: 'Divide the schema into several with references.' },
  Incompatible: {
    meaning: 'The schema is incompatible with earlier versions.',
    remedy: 'Give new fields a default, or lower the compatibility level deliberately.',
  },
  ImportConflict: {
    meaning: 'The ID or version already belongs to another schema; nothing was written.',
    remedy: 'Correct the IDs and versions to import.',
  },
  ScopeNotEmpty: {
    meaning: 'Mode IMPORT needs an empty scope, and schemas exist.',
    remedy: 'Use another context, or set force: true.',
  },
  InternalError: {
    meaning: 'An error in the operator or the API server.',
    remedy: 'Read the log of the operator, and report it.',
  },
} as const satisfies Readonly<Record<string, StateEntry>>
export type ConditionReason = keyof typeof CONDITION_REASONS

/** Words for what the console finds besides the states of connectors and resources. */
export const SYMPTOMS = {
  DOWN: {
    tone: 'bad',
    meaning: 'The runtime does not respond.',
    remedy: 'Check its pods, its Service, network policies and its log. What it runs elsewhere in its group continues.',
  },
  REFUSED: {
    tone: 'bad',
    meaning: 'The runtime refuses the request of this user.',
    remedy: 'Log in as a user who may read it.',
  },
  'NO LEADER': {
    tone: 'bad',
    meaning: 'No instance of a registry, or no replica of an operator, is the leader.',
    remedy:
      'Make Kafka available, so that a registry elects a leader; of an operator, wait 15 seconds, then read the log of the replicas.',
  },
  FORBIDDEN: {
    tone: 'bad',
    meaning: 'The operator may not read or write its Lease.',
    remedy: 'Grant the privilege that its log names.',
  },
  INVALID: {
    tone: 'bad',
    meaning: "The operator's configuration, or its entry of a runtime, is invalid.",
    remedy: 'Correct the configuration; the message or the log names the place.',
  },
  'NOT LOADED': {
    tone: 'bad',
    meaning: 'A worker could not load a plugin, and runs without it.',
    remedy: 'Correct the module, or raise worker.plugin.load.timeout.ms, and restart the worker.',
  },
  'WORKER LEFT': {
    tone: 'waiting',
    meaning: 'A worker is not in its group any more, and nothing has taken over what it ran.',
    remedy:
      'Start it again, or wait for scheduled.rebalance.max.delay.ms. If it was OOMKilled, raise worker.resources.limits.memory.',
  },
  LAGGING: {
    tone: 'waiting',
    meaning: 'A partition has more than 100,000 records that a sink has not read.',
    remedy: 'If the lag grows, add tasks (no more than the topics have partitions), then workers.',
  },
  'DEAD LETTERS': {
    tone: 'waiting',
    meaning: 'Records failed in the last hour, and are in the dead-letter topic.',
    remedy: 'Read why they failed, correct the cause or the records, and replay them.',
  },
  ERRORS: {
    tone: 'waiting',
    meaning: 'Records failed in the last hour.',
    remedy: 'Read the log for the reason. Without errors.deadletterqueue.topic.name, the records are not kept.',
  },
  DELETED: {
    tone: 'waiting',
    meaning: 'The version is soft-deleted: it can be restored, and read by its ID.',
    remedy: 'Restore it if something needs it.',
  },
  IMPORT: {
    tone: 'waiting',
    meaning: 'The mode of the registry accepts IDs from clients.',
    remedy: 'End the mode when the import is complete.',
  },
  REPLAYED: { tone: 'idle', meaning: 'The dead letter was sent to its topic again.', remedy: NOTHING },
} as const satisfies Readonly<Record<string, ToneEntry>>
export type Symptom = keyof typeof SYMPTOMS

export type StateWord = RunState | ConditionReason | Symptom

const ENTRIES = new Map<string, StateEntry & { readonly tone?: Tone }>(
  Object.entries({ ...CONDITION_REASONS, ...CONNECTOR_STATES, ...SYMPTOMS }),
)

/** Undefined for a word of another vendor or of another version of Weir. */
export function explainState(word: string): StateEntry | undefined {
  return ENTRIES.get(word)
}

/** The tone of a state of a connector or of a symptom. A resource has its tone by its conditions. */
export function toneOf(word: string): Tone {
  return ENTRIES.get(word)?.tone ?? 'idle'
}

/** Sorts before others what somebody has to look at first. */
export function urgencyOf(state: string): number {
  const at = Object.keys(CONNECTOR_STATES).indexOf(state)
  return at === -1 ? Object.keys(CONNECTOR_STATES).length : at
}

/**
 * The state of a connector that is shown everywhere: FAILED if the connector or one of its tasks is; else UNASSIGNED or RESTARTING if one
 * of them is; else that of the connector.
 */
export function shownState<State extends string>(status: {
  readonly connector: { readonly state: State }
  readonly tasks: readonly { readonly state: State }[]
}): State {
  const states = [status.connector, ...status.tasks].map(({ state }) => state)
  const first = (wanted: RunState) => states.find((state) => state === wanted)
  return first('FAILED') ?? first('UNASSIGNED') ?? first('RESTARTING') ?? status.connector.state
}
