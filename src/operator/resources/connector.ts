import { z } from 'zod'
import { OWNER_KEY } from '../../clients/worker-client.ts'
import { commonStatus, countField, handledAnnotation, int64Field } from './common-status.ts'
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
  ownRecord,
  suspend,
  textMap,
  time,
  withRules,
} from './field-schemas.ts'

/** Configuration keys that have fields of their own in `spec`. */
export const OWN_KEYS = ['name', 'connector.class', 'tasks.max', 'connector.plugin.version', OWNER_KEY]

const valueFrom = withRules(
  z.strictObject({
    key: boundedText(1, 256).describe('Configuration key whose value is set. Example: connection.password.'),
    secretKeyRef: keyRef('Secret in this namespace').optional().describe('Takes the value from a Secret.'),
    configMapKeyRef: keyRef('ConfigMap in this namespace').optional().describe('Takes the value from a ConfigMap.'),
    resolve: choice('Which program reads the Secret.', {
      Worker: 'the operator sends a placeholder, which the worker resolves when a task starts',
      Operator:
        'the operator reads the value and sends it in clear text; its configuration must allow this (allowInlineSecrets)',
    }).default('Worker'),
    onChange: choice('What happens to a running connector when the Secret changes.', {
      Restart: 'the connector and its tasks are restarted',
      Ignore: 'the new value is used after the next restart',
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
  partition: freeObject().describe(
    'Partition: the source partition of a source connector, or kafka_topic and kafka_partition of a sink connector.',
  ),
  offset: freeObject()
    .nullable()
    .optional()
    .describe('Offset to continue from; null or absent: the offset is deleted. Example: {kafka_offset: 42}.'),
})

const offsetsOperation = withRules(
  z.strictObject({
    id: boundedText(1, 128)
      .regex(/^[A-Za-z0-9._:+-]+$/, 'must consist of letters, digits and . _ : + -')
      .describe('Identifies the operation: each id is executed once. Example: 2026-11-20-replay.'),
    type: choice(
      'Type of the operation. The operator stops the connector before it and restores spec.state after it.',
      {
        Alter: 'the given offsets are set, and others stay',
        Reset: 'all offsets are deleted',
      },
    ),
    offsets: atomicList(offset)
      .max(1_000)
      .optional()
      .describe("Offsets to set with Alter, in the format of the worker's REST API."),
    offsetsFrom: z
      .strictObject({
        configMapKeyRef: z
          .strictObject({
            name: objectName().describe('Name of the ConfigMap in this namespace.'),
            key: dataKey().default('offsets.json').describe('Key in the ConfigMap.'),
          })
          .describe('ConfigMap that contains the offsets.'),
      })
      .optional()
      .describe('Offsets to set with Alter, as JSON in a ConfigMap.'),
  }),
  [
    {
      cel: "self.type == 'Alter' ? has(self.offsets) != has(self.offsetsFrom) : !has(self.offsets) && !has(self.offsetsFrom)",
      message: 'Alter requires exactly one of offsets and offsetsFrom; Reset allows neither',
      isValid: ({ type, offsets, offsetsFrom }) =>
        type === 'Alter'
          ? (offsets === undefined) !== (offsetsFrom === undefined)
          : offsets === undefined && offsetsFrom === undefined,
    },
  ],
)

const offsets = z.strictObject({
  operation: offsetsOperation.optional().describe('Changes the offsets, once for each id.'),
  export: z
    .strictObject({
      configMapRef: nameRef('ConfigMap in this namespace').describe(
        'ConfigMap to write the offsets to, under the key offsets.json.',
      ),
      interval: duration()
        .optional()
        .describe(
          'How often the offsets are written; absent: only on request, by the annotation weir.dev/offsets-export-requested-at. Example: 1h.',
        ),
    })
    .optional()
    .describe('Exports the offsets to a ConfigMap.'),
})

const autoRestart = z.strictObject({
  enabled: z.boolean().default(true).describe('Whether a failed connector or task is restarted automatically.'),
  maxRestarts: int32()
    .min(0)
    .max(100_000)
    .optional()
    .describe(
      'Number of restarts after which the connector stays failed; absent: no limit. The count is cleared after resetAfter.',
    ),
  initialBackoff: duration()
    .default('10s')
    .describe('Delay before the first restart; doubles with each restart. Example: 30s.'),
  maxBackoff: duration().default('10m').describe('Maximum delay before a restart. Example: 1h.'),
  resetAfter: duration()
    .default('10m')
    .describe('Time without a failure after which the count of restarts is cleared. Example: 30m.'),
})

const configMapSource = z.strictObject({
  configMapRef: z
    .strictObject({
      name: objectName().describe('Name of the ConfigMap in this namespace.'),
      optional: z.boolean().default(false).describe('true: the ConfigMap may be missing.'),
    })
    .describe('The ConfigMap.'),
  prefix: boundedText(0, 128).optional().describe('Prefix of each key of the ConfigMap. Example: consumer.override.'),
})

/** Desired state of one connector. */
export const connectorSpec = withRules(
  z.strictObject({
    workerRef: clusterRef('worker cluster').describe('Worker cluster that runs the connector. Immutable.'),
    name: boundedText(1, 255)
      .regex(/^[^\s/\\]+$/, 'must not contain white space, slashes or backslashes')
      .optional()
      .describe('Name of the connector on the worker; absent: metadata.name. Immutable.'),
    class: boundedText(1, 512).describe('Class name or alias of the connector plugin. Example: FileStreamSink.'),
    version: boundedText(1, 128)
      .optional()
      .describe('Version of the connector plugin, exact or a range; absent: the latest one. Example: [1.2,2).'),
    tasksMax: int32().min(1).max(10_000).default(1).describe('Maximum number of tasks.'),
    state: choice('Target state of the connector.', {
      Running: 'the tasks process records',
      Paused: 'the tasks stay allocated but process no records',
      Stopped: 'the tasks are shut down; the offsets can be changed',
    }).default('Running'),
    config: textMap(boundedText(0, 65_536), 1_024)
      .optional()
      .describe('Configuration of the connector. All values are strings: quote numbers and booleans.'),
    configFrom: atomicList(configMapSource)
      .max(16)
      .optional()
      .describe(
        'ConfigMaps whose entries are added to the configuration. Later ones take precedence, and config takes precedence over all.',
      ),
    valuesFrom: mapList(valueFrom, 'key')
      .max(128)
      .optional()
      .describe('Values of the configuration that are read from Secrets or ConfigMaps.'),
    subjectRefs: mapList(nameRef('Subject in this namespace'), 'name')
      .max(64)
      .optional()
      .describe('Subjects that must be Ready before the connector is created.'),
    autoRestart: autoRestart
      .default(() => autoRestart.parse({}))
      .meta({ default: {} })
      .describe('Automatic restarts of a failed connector or task.'),
    offsets: offsets.optional().describe('Operations on the offsets of the connector.'),
    adoptionPolicy: choice(
      'What to do when a connector with this name exists already and no resource manages it. One that another resource manages, or left with deletionPolicy Retain, is taken over only with the annotation weir.dev/take-over.',
      {
        Adopt: 'it is adopted, and its configuration is replaced',
        AdoptIfIdentical:
          'it is adopted without a write if its configuration equals the declared one; otherwise the resource reports AdoptionRefused',
        Never: 'it is not changed, and the resource reports AlreadyExists',
      },
    ).default('Adopt'),
    driftPolicy: driftPolicy('What to do when the configuration on the worker differs from the applied one.'),
    deletionPolicy: choice('What the deletion of this resource does on the worker.', {
      Delete: 'the connector is deleted; its offsets stay, so that a connector with the same name continues from them',
      DeleteWithOffsets: 'the connector is stopped, then its offsets and the connector are deleted',
      Retain: 'the connector continues to run, and another resource can take it over',
    }).default('Delete'),
    suspend: suspend('worker'),
  }),
  [
    {
      cel: `!has(self.config) || !['${OWN_KEYS.join("','")}'].exists(k, k in self.config)`,
      field: 'config',
      message: `config must not contain ${OWN_KEYS.slice(0, -1).join(', ')} or ${OWN_KEYS.at(-1)}: use the fields of spec`,
      isValid: ({ config }) => !OWN_KEYS.some((key) => config !== undefined && key in config),
    },
    {
      cel: '!has(self.config) || !has(self.valuesFrom) || self.valuesFrom.all(v, !(v.key in self.config))',
      field: 'valuesFrom',
      message: 'config and valuesFrom must not contain the same key',
      isValid: ({ config = {}, valuesFrom = [] }) => valuesFrom.every(({ key }) => !(key in config)),
    },
  ],
)

export type ConnectorSpec = z.output<typeof connectorSpec>

const failedTask = z.object({
  id: int32().describe('Id of the task.'),
  workerId: z.string().optional().describe('Worker that ran the task.'),
  trace: boundedText(0, 2_048).optional().describe('Beginning of the stack trace. Secrets are masked.'),
})

const taskCounts = z.object({
  total: countField('Number of tasks.'),
  running: countField('Number of running tasks.'),
  failed: countField('Number of failed tasks.'),
  paused: countField('Number of paused tasks.'),
  unassigned: countField('Number of tasks that wait for a worker.'),
  summary: z.string().describe('Running tasks and all tasks. Example: 2/3.'),
})
export type TaskCounts = Readonly<z.output<typeof taskCounts>>

/** Observed state of one connector. */
export const connectorStatus = z.object({
  ...commonStatus,
  lastHandledRestart: handledAnnotation('restart'),
  lastHandledOffsetsExport: handledAnnotation('offsets-export'),
  connectorName: z.string().optional().describe('Name of the connector on the worker.'),
  workerCluster: z.string().optional().describe('Worker cluster that runs the connector.'),
  type: z.string().optional().describe('Type of the connector: source or sink.'),
  state: z
    .string()
    .optional()
    .describe(
      'State of the connector: FAILED if it or one of its tasks has failed, else UNASSIGNED or RESTARTING if one of them is, else that of the connector.',
    ),
  workerId: z.string().optional().describe('Worker that runs the connector.'),
  tasks: taskCounts.optional().describe('Number of tasks by state.'),
  failedTasks: mapList(failedTask, 'id').max(20).readonly().optional().describe('The first 20 failed tasks.'),
  configHash: ownRecord(
    z.string().optional().describe('SHA-256 of the applied configuration. Placeholders of secrets are not resolved.'),
  ),
  inputsHash: ownRecord(
    z.string().optional().describe('SHA-256 of the versions of the Secrets that the tasks were started with.'),
  ),
  inputsRestartTime: ownRecord(
    time().optional().describe('When the connector is restarted because a Secret has changed.'),
  ),
  lastAppliedTime: time().optional().describe('When the configuration was last written to the worker.'),
  autoRestart: z
    .object({
      count: countField('Number of restarts since the count was last cleared.'),
      observedGeneration: ownRecord(
        int64Field().optional().describe('metadata.generation that the count belongs to. Each generation starts at 0.'),
      ),
      lastRestartTime: time().optional().describe('When the connector was last restarted automatically.'),
      lastRestartReason: boundedText(0, 1_024)
        .optional()
        .describe('Failure before the last restart. Secrets are masked.'),
      nextRestartTime: time().optional().describe('When the connector is restarted next.'),
      exhausted: z.boolean().optional().describe('true: maxRestarts was reached.'),
    })
    .optional()
    .describe('Automatic restarts so far.'),
  offsets: z
    .object({
      lastOperationId: z.string().optional().describe('Id of the last operation on the offsets.'),
      lastOperationResult: z.enum(['Succeeded', 'Failed']).optional().describe('Result of the last operation.'),
      lastOperationTime: time().optional().describe('When the last operation ended.'),
      lastExportTime: time().optional().describe('When the offsets were last exported to the ConfigMap.'),
    })
    .optional()
    .describe('Operations on the offsets so far.'),
  selector: z.string().optional().describe('Label selector of the pods of the worker, for the scale subresource.'),
})
export type ConnectorStatus = z.output<typeof connectorStatus>
