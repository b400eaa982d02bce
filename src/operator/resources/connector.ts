import { z } from 'zod'
import type { Condition } from './condition.ts'
import { clusterRef, dataKey, duration, freeObject, int32, keyRef, nameRef, objectName, withRules } from './fields.ts'

/** Keys of a connector's configuration that have fields of their own in `spec`. */
const OWN_KEYS = ['name', 'connector.class', 'tasks.max', 'connector.plugin.version', 'weir.owner']

const valueFrom = withRules(
  z.strictObject({
    key: z.string().min(1).max(256).describe('Configuration key to set.'),
    secretKeyRef: keyRef().optional().describe('Key of a Secret in this namespace.'),
    configMapKeyRef: keyRef().optional().describe('Key of a ConfigMap in this namespace.'),
    resolve: z.enum(['Worker', 'Operator']).default('Worker'),
    onChange: z.enum(['Restart', 'Ignore']).default('Restart'),
  }),
  [
    {
      cel: 'has(self.secretKeyRef) != has(self.configMapKeyRef)',
      message: 'exactly one of secretKeyRef and configMapKeyRef must be set',
      holds: ({ secretKeyRef, configMapKeyRef }) => (secretKeyRef === undefined) !== (configMapKeyRef === undefined),
    },
  ],
)

const offsetsOperation = withRules(
  z.strictObject({
    id: z
      .string()
      .min(1)
      .max(128)
      .regex(/^[A-Za-z0-9._:+-]+$/, 'must be letters, digits and . _ : + -')
      .describe('Idempotency key: an operation is carried out once for each id.'),
    type: z.enum(['Alter', 'Reset']),
    offsets: z
      .array(z.strictObject({ partition: freeObject(), offset: freeObject().nullable().optional() }))
      .max(1_000)
      .optional()
      .describe('Offsets in the wire form of the worker: partition and offset objects.'),
    offsetsFrom: z
      .strictObject({
        configMapKeyRef: z.strictObject({ name: objectName(), key: dataKey().default('offsets.json') }),
      })
      .optional(),
  }),
  [
    {
      cel: "self.type == 'Alter' ? has(self.offsets) != has(self.offsetsFrom) : !has(self.offsets) && !has(self.offsetsFrom)",
      message: 'Alter takes exactly one of offsets and offsetsFrom, Reset takes neither',
      holds: ({ type, offsets, offsetsFrom }) =>
        type === 'Alter'
          ? (offsets === undefined) !== (offsetsFrom === undefined)
          : offsets === undefined && offsetsFrom === undefined,
    },
  ],
)

const autoRestart = z.strictObject({
  enabled: z.boolean().default(true),
  maxRestarts: int32().min(0).max(100_000).optional().describe('Absent: no limit.'),
  initialBackoff: duration().default('10s'),
  maxBackoff: duration().default('10m'),
  resetAfter: duration().default('10m').describe('Healthy time after which the count is cleared.'),
})

/** Desired state of one connector. */
export const connectorSpec = withRules(
  z.strictObject({
    workerRef: clusterRef().describe('Worker cluster, by its name in the operator configuration.'),
    name: z
      .string()
      .min(1)
      .max(255)
      .regex(/^[^\s/\\]+$/, 'must not hold blanks, slashes or backslashes')
      .optional()
      .describe('Connector name on the worker; metadata.name when absent.'),
    class: z.string().min(1).max(512).describe('connector.class: class name or plugin alias.'),
    version: z.string().min(1).max(128).optional().describe('connector.plugin.version: exact version or range.'),
    tasksMax: int32().min(1).max(10_000).default(1).describe('tasks.max.'),
    state: z.enum(['Running', 'Paused', 'Stopped']).default('Running').describe('Target state.'),
    config: z.record(z.string(), z.string().max(65_536)).optional().describe('Plain configuration. Strings only.'),
    configFrom: z
      .array(
        z.strictObject({
          configMapRef: z.strictObject({ name: objectName(), optional: z.boolean().default(false) }),
          prefix: z.string().max(128).optional().describe('Prefix added to each key.'),
        }),
      )
      .max(16)
      .optional()
      .describe('ConfigMaps whose keys become configuration keys; later entries win, config wins over all.'),
    valuesFrom: z.array(valueFrom).max(128).optional(),
    subjectRefs: z
      .array(nameRef())
      .max(64)
      .optional()
      .describe('Subjects that must be Ready before the connector is first created.'),
    autoRestart: autoRestart.default(() => autoRestart.parse({})).describe('Restart of failed connector and tasks.'),
    offsets: z
      .strictObject({
        operation: offsetsOperation.optional(),
        export: z.strictObject({ configMapRef: nameRef(), interval: duration().optional() }).optional(),
      })
      .optional(),
    adoptionPolicy: z.enum(['Adopt', 'AdoptIfIdentical', 'Never']).default('Adopt'),
    driftPolicy: z.enum(['Correct', 'Report']).default('Correct'),
    deletionPolicy: z.enum(['Delete', 'DeleteWithOffsets', 'Retain']).default('Delete'),
    suspend: z.boolean().default(false).describe('The operator observes but writes nothing to the worker.'),
  }),
  [
    {
      cel: `!has(self.config) || !['${OWN_KEYS.join("','")}'].exists(k, k in self.config)`,
      field: 'config',
      message: `config must not hold ${OWN_KEYS.slice(0, -1).join(', ')} or ${OWN_KEYS.at(-1)}: use the fields of spec`,
      holds: ({ config }) => !OWN_KEYS.some((key) => config !== undefined && key in config),
    },
    {
      cel: '!has(self.config) || !has(self.valuesFrom) || self.valuesFrom.all(v, !(v.key in self.config))',
      field: 'valuesFrom',
      message: 'a key must not be in both config and valuesFrom',
      holds: ({ config = {}, valuesFrom = [] }) => valuesFrom.every(({ key }) => !(key in config)),
    },
  ],
)

export type ConnectorSpec = z.output<typeof connectorSpec>

export type ConnectorStatus = {
  readonly observedGeneration: number
  readonly conditions: readonly Condition[]
  readonly connectorName?: string
  readonly workerCluster?: string
  /** source or sink. */
  readonly type?: string
  /** As the worker reports it. */
  readonly state?: string
  readonly workerId?: string
  readonly tasks?: TaskCounts
  readonly failedTasks?: readonly { readonly id: number; readonly workerId?: string; readonly trace?: string }[]
  /** sha256 of the effective configuration. */
  readonly configHash?: string
  readonly lastAppliedTime?: string
  readonly lastHandledRestart?: string
  readonly lastHandledReconcile?: string
  readonly autoRestart?: {
    readonly count: number
    readonly lastRestartTime?: string
    readonly nextRestartTime?: string
    readonly exhausted?: boolean
  }
  readonly offsets?: {
    readonly lastOperationId?: string
    readonly lastOperationResult?: 'Succeeded' | 'Failed'
    readonly lastOperationTime?: string
  }
}

export type TaskCounts = {
  readonly total: number
  readonly running: number
  readonly failed: number
  readonly paused: number
  readonly unassigned: number
  /** `running/total` */
  readonly summary: string
}
