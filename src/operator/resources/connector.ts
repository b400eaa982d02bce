import { z } from 'zod'
import { OWNER_KEY } from '../../clients/worker.ts'
import {
  atomicList,
  boundedText,
  choice,
  clusterRef,
  dataKey,
  driftPolicy,
  duration,
  freeObject,
  int32,
  keyRef,
  mapList,
  nameRef,
  objectName,
  suspend,
  textMap,
  time,
  withRules,
} from './fields.ts'
import { commonStatus, countField, handledAnnotation, int64Field } from './status.ts'

/** Configuration keys that have fields of their own in `spec`. */
const OWN_KEYS = ['name', 'connector.class', 'tasks.max', 'connector.plugin.version', OWNER_KEY]

const valueFrom = withRules(
  z.strictObject({
    key: boundedText(1, 256).describe('Configuration key to set. Example: connection.password.'),
    secretKeyRef: keyRef('Secret in this namespace').optional().describe('Takes the value from a Secret.'),
    configMapKeyRef: keyRef('ConfigMap in this namespace').optional().describe('Takes the value from a ConfigMap.'),
    resolve: choice('Who reads a Secret.', {
      Worker: 'a placeholder is sent, and the worker resolves it when a task starts',
      Operator: 'the operator reads the value and sends it in clear, which its configuration has to allow',
    }).default('Worker'),
    onChange: choice('What a new value does to a running connector.', {
      Restart: 'connector and tasks are restarted',
      Ignore: 'the new value is used from the next restart on',
    }).default('Restart'),
  }),
  [
    {
      cel: 'has(self.secretKeyRef) != has(self.configMapKeyRef)',
      message: 'exactly one of secretKeyRef and configMapKeyRef must be set',
      isValid: ({ secretKeyRef, configMapKeyRef }) => (secretKeyRef === undefined) !== (configMapKeyRef === undefined),
    },
  ],
)

const offset = z.strictObject({
  partition: freeObject().describe('Source partition, or kafka_topic and kafka_partition of a sink.'),
  offset: freeObject()
    .nullable()
    .optional()
    .describe('Where to go on; null or absent: as if nothing had been read. Example: {kafka_offset: 42}.'),
})

const offsetsOperation = withRules(
  z.strictObject({
    id: boundedText(1, 128)
      .regex(/^[A-Za-z0-9._:+-]+$/, 'must be letters, digits and . _ : + -')
      .describe('An operation is carried out once for each id. Example: 2026-11-20-replay.'),
    type: choice('What is done. The operator stops the connector for it and resumes it as spec.state says.', {
      Alter: 'the given offsets are set, others stay',
      Reset: 'all offsets are deleted',
    }),
    offsets: atomicList(offset)
      .max(1_000)
      .optional()
      .describe("What Alter sets, in the form of the worker's REST interface."),
    offsetsFrom: z
      .strictObject({
        configMapKeyRef: z
          .strictObject({
            name: objectName().describe('Name of the ConfigMap in this namespace.'),
            key: dataKey().default('offsets.json').describe('Key in the ConfigMap.'),
          })
          .describe('ConfigMap that holds them.'),
      })
      .optional()
      .describe('What Alter sets, as JSON in a ConfigMap.'),
  }),
  [
    {
      cel: "self.type == 'Alter' ? has(self.offsets) != has(self.offsetsFrom) : !has(self.offsets) && !has(self.offsetsFrom)",
      message: 'Alter takes exactly one of offsets and offsetsFrom, Reset takes neither',
      isValid: ({ type, offsets, offsetsFrom }) =>
        type === 'Alter'
          ? (offsets === undefined) !== (offsetsFrom === undefined)
          : offsets === undefined && offsetsFrom === undefined,
    },
  ],
)

const offsets = z.strictObject({
  operation: offsetsOperation.optional().describe('One operation on the offsets, carried out once for each id.'),
  export: z
    .strictObject({
      configMapRef: nameRef('ConfigMap in this namespace').describe('Where they are written, under offsets.json.'),
      interval: duration()
        .optional()
        .describe('How often they are written; absent: when it is asked for. Example: 1h.'),
    })
    .optional()
    .describe('Where a copy of the offsets is kept.'),
})

const autoRestart = z.strictObject({
  enabled: z.boolean().default(true).describe('Whether a failed connector or task is restarted.'),
  maxRestarts: int32()
    .min(0)
    .max(100_000)
    .optional()
    .describe('After so many restarts without a healthy time in between it stays failed; absent: no limit.'),
  initialBackoff: duration().default('10s').describe('Wait before the first restart; doubles with each. Example: 30s.'),
  maxBackoff: duration().default('10m').describe('Longest wait before a restart. Example: 1h.'),
  resetAfter: duration().default('10m').describe('So long without a failure clears the count. Example: 30m.'),
})

const configMapSource = z.strictObject({
  configMapRef: z
    .strictObject({
      name: objectName().describe('Name of the ConfigMap in this namespace.'),
      optional: z.boolean().default(false).describe('true: it may be missing.'),
    })
    .describe('The ConfigMap.'),
  prefix: boundedText(0, 128).optional().describe('Goes before each of its keys. Example: consumer.override.'),
})

/** Desired state of one connector. */
export const connectorSpec = withRules(
  z.strictObject({
    workerRef: clusterRef('worker cluster').describe('Which worker cluster runs it. Can not be changed.'),
    name: boundedText(1, 255)
      .regex(/^[^\s/\\]+$/, 'must not hold blanks, slashes or backslashes')
      .optional()
      .describe('Name on the worker; absent: metadata.name. Can not be changed.'),
    class: boundedText(1, 512).describe('Class name of the plugin, or its alias. Example: FileStreamSink.'),
    version: boundedText(1, 128)
      .optional()
      .describe('Version of the plugin, exact or as a range; absent: the newest. Example: [1.2,2).'),
    tasksMax: int32().min(1).max(10_000).default(1).describe('Most tasks that it may have.'),
    state: choice('State it is kept in.', {
      Running: 'tasks process records',
      Paused: 'tasks stay allocated and process nothing',
      Stopped: 'tasks are shut down; offsets can be changed',
    }).default('Running'),
    config: textMap(boundedText(0, 65_536), 1_024)
      .optional()
      .describe('Configuration of the connector. Values are strings: put numbers and booleans in quotes.'),
    configFrom: atomicList(configMapSource)
      .max(16)
      .optional()
      .describe('ConfigMaps whose keys become configuration; later ones win, config wins over all.'),
    valuesFrom: mapList(valueFrom, 'key')
      .max(128)
      .optional()
      .describe('Single values that come from a Secret or a ConfigMap.'),
    subjectRefs: mapList(nameRef('Subject in this namespace'), 'name')
      .max(64)
      .optional()
      .describe('Subjects that have to be Ready before the connector is first created.'),
    autoRestart: autoRestart
      .default(() => autoRestart.parse({}))
      .meta({ default: {} })
      .describe('What happens when the connector or a task fails.'),
    offsets: offsets.optional().describe('What is to be done with the offsets.'),
    adoptionPolicy: choice('What to do with a connector of that name that exists already and has no owner.', {
      Adopt: 'it is taken over and its configuration replaced',
      AdoptIfIdentical: 'it is taken over when its configuration is the declared one, else AdoptionRefused',
      Never: 'it is left alone, and the resource reports AlreadyExists',
    }).default('Adopt'),
    driftPolicy: driftPolicy('What to do when the worker no longer holds what was applied.'),
    deletionPolicy: choice('What the deletion of this object does on the worker.', {
      Delete: 'the connector is deleted, its offsets stay, so that one of the same name resumes where it ended',
      DeleteWithOffsets: 'the connector is stopped, its offsets are deleted, then the connector',
      Retain: 'the connector stays and continues to run',
    }).default('Delete'),
    suspend: suspend('worker'),
  }),
  [
    {
      cel: `!has(self.config) || !['${OWN_KEYS.join("','")}'].exists(k, k in self.config)`,
      field: 'config',
      message: `config must not hold ${OWN_KEYS.slice(0, -1).join(', ')} or ${OWN_KEYS.at(-1)}: use the fields of spec`,
      isValid: ({ config }) => !OWN_KEYS.some((key) => config !== undefined && key in config),
    },
    {
      cel: '!has(self.config) || !has(self.valuesFrom) || self.valuesFrom.all(v, !(v.key in self.config))',
      field: 'valuesFrom',
      message: 'a key must not be in both config and valuesFrom',
      isValid: ({ config = {}, valuesFrom = [] }) => valuesFrom.every(({ key }) => !(key in config)),
    },
  ],
)

export type ConnectorSpec = z.output<typeof connectorSpec>

const failedTask = z.object({
  id: int32().describe('Number of the task.'),
  workerId: z.string().optional().describe('Worker that ran it.'),
  trace: boundedText(0, 2_048).optional().describe('Beginning of what it failed with, secrets masked.'),
})

const taskCounts = z.object({
  total: countField('All tasks.'),
  running: countField('Those that run.'),
  failed: countField('Those that failed.'),
  paused: countField('Those that are paused.'),
  unassigned: countField('Those that wait for a worker.'),
  summary: z.string().describe('Running and all. Example: 2/3.'),
})
export type TaskCounts = Readonly<z.output<typeof taskCounts>>

/** Observed state of one connector. */
export const connectorStatus = z.object({
  ...commonStatus,
  lastHandledRestart: handledAnnotation('restart'),
  lastHandledOffsetsExport: handledAnnotation('offsets-export'),
  connectorName: z.string().optional().describe('Name on the worker.'),
  workerCluster: z.string().optional().describe('Worker cluster it is on.'),
  type: z.string().optional().describe('source or sink.'),
  state: z.string().optional().describe('State of the connector as the worker reports it.'),
  workerId: z.string().optional().describe('Worker that runs the connector itself.'),
  tasks: taskCounts.optional().describe('How many tasks are in which state.'),
  failedTasks: mapList(failedTask, 'id').max(20).readonly().optional().describe('The first tasks that failed.'),
  configHash: z.string().optional().describe('SHA-256 of the configuration in force, before secrets.'),
  inputsHash: z.string().optional().describe('SHA-256 of the versions of Secrets that its tasks were started with.'),
  inputsRestartTime: time().optional().describe('When it is restarted for a Secret that has changed.'),
  lastAppliedTime: time().optional().describe('When the configuration was last written to the worker.'),
  autoRestart: z
    .object({
      count: countField('Restarts since it was last healthy for long enough.'),
      observedGeneration: int64Field()
        .optional()
        .describe('metadata.generation that count belongs to; a new one starts at 0.'),
      lastRestartTime: time().optional().describe('When it was last restarted.'),
      lastRestartReason: boundedText(0, 1_024)
        .optional()
        .describe('What failed before the last restart, secrets masked.'),
      nextRestartTime: time().optional().describe('When it is restarted next.'),
      exhausted: z.boolean().optional().describe('true: maxRestarts is reached.'),
    })
    .optional()
    .describe('What automatic restarts have done.'),
  offsets: z
    .object({
      lastOperationId: z.string().optional().describe('Id of the last operation.'),
      lastOperationResult: z.enum(['Succeeded', 'Failed']).optional().describe('How it ended.'),
      lastOperationTime: time().optional().describe('When it ended.'),
      lastExportTime: time().optional().describe('When they were last written to the ConfigMap.'),
    })
    .optional()
    .describe('What was done with the offsets.'),
  selector: z.string().optional().describe('Label selector of the worker pods, for the scale subresource.'),
})
export type ConnectorStatus = z.output<typeof connectorStatus>
