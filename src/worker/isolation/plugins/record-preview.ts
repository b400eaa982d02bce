import { systemClock } from '../../../common/clock.ts'
import { withTimeout } from '../../../common/timeout.ts'
import { truncateText } from '../../../common/truncate-text.ts'
import type { KnownPlugin } from '../../../plugins/load-modules.ts'
import type { Catalog } from '../../../plugins/plugin-catalog.ts'
import { DataError, type HostAccess, type Schema, type SinkRecord } from '../../../sdk/index.ts'
import type { ErrorConfig } from '../../configuration/task-config.ts'
import type {
  ConnectDataText,
  ConnectRecordText,
  PipelineOutcome,
  PreviewedStoredRecord,
  PreviewInput,
} from '../../plugin-host.ts'
import { exceptionMessage, exceptionName } from '../../tasks/dead-letter-queue.ts'
import { ErrorPolicy } from '../../tasks/error-policy.ts'
import { describeSafely } from '../../tasks/error-trace.ts'
import type { StepFailure } from '../../tasks/pipeline-step.ts'
import { type FailedSinkRecord, processSinkRecords } from '../../tasks/process-sink-records.ts'
import { RecordPipeline } from '../../tasks/record-pipeline.ts'
import { countersIn } from '../../tasks/task-counters.ts'
import { loadTaskPlugins } from '../tasks/load-task-plugins.ts'
import { connectJson } from './payload-converter.ts'

const TIMEOUT_MS = 30_000
const TEXT_LENGTH_MAX = 20_000
const HEADERS_MAX = 50
const HEADER_LENGTH_MAX = 2_000
const MESSAGE_LENGTH_MAX = 10_000
/** Each record is shown with its own failure, which is neither retried nor logged. */
const ERRORS: ErrorConfig = { retryTimeoutMs: 0, retryDelayMsMax: 0, tolerance: 'all', log: false, logRecords: false }
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/**
 * Passes records through the converters and transformations of a configuration, in the order in which they would reach a sink. Nothing
 * is written. Rejects when a plugin cannot be created.
 */
export async function previewRecords(
  { config, workerDefaults, records }: PreviewInput,
  known: Catalog<KnownPlugin>,
  access: HostAccess,
): Promise<readonly PipelineOutcome[]> {
  const stopping = new AbortController()
  const spec = { connector: '', task: 0, kind: 'sink', config, worker: { converters: workerDefaults } } as const
  const plugins = await loadTaskPlugins(known, spec)
  const context = { plugins, access, remote: undefined, signal: stopping.signal }
  const { transforms: _, ...withoutTransforms } = config
  const converters = await RecordPipeline.open({ ...context, spec: { ...spec, config: withoutTransforms } })
  const pipeline = await RecordPipeline.open({ ...context, spec })
  const { signal } = stopping
  const policy = new ErrorPolicy({ config: ERRORS, counters: countersIn(), log: SILENT, clock: systemClock, signal })
  const preview = async () => {
    const previews: PipelineOutcome[] = []
    for (const record of records) {
      const read = await apply(record, converters, policy)
      const { passed, failed } = await apply(record, pipeline, policy)
      previews.push({
        read: read.passed ? recordText(read.passed) : null,
        result: passed ? recordText(passed) : null,
        failure: failed ? describeFailure(failed) : null,
      })
    }
    return previews
  }
  try {
    return await withTimeout(preview(), TIMEOUT_MS, () => {
      throw new DataError(`the converters did not finish within ${TIMEOUT_MS} ms: is the registry available?`)
    })
  } finally {
    stopping.abort()
  }
}

/** Neither a record nor a failure: it was dropped. */
type Outcome = { readonly passed: SinkRecord | undefined; readonly failed: FailedSinkRecord | undefined }

async function apply(
  { topic, partition, ...stored }: PreviewedStoredRecord,
  pipeline: RecordPipeline,
  policy: ErrorPolicy,
): Promise<Outcome> {
  const passed: SinkRecord[] = []
  let failed: FailedSinkRecord | undefined
  const onFailedRecord = (one: FailedSinkRecord) => {
    failed = one
  }
  // Data that was sent to this process is plain arrays of bytes.
  const record = {
    ...stored,
    key: stored.key && Buffer.from(stored.key),
    value: stored.value && Buffer.from(stored.value),
    headers: stored.headers.map(([name, value]) => [name, value && Buffer.from(value)] as const),
  }
  await processSinkRecords({ topic, partition, records: [record] }, { pipeline, policy, onFailedRecord }, passed)
  return { passed: passed[0], failed }
}

function describeFailure({ stage, className, error }: StepFailure): NonNullable<PipelineOutcome['failure']> {
  const text = (read: () => unknown) => truncateText(describeSafely(read), MESSAGE_LENGTH_MAX)
  return {
    stage,
    className,
    exceptionClass: error instanceof Error ? text(() => exceptionName(error)) : null,
    message: text(() => exceptionMessage(error)),
  }
}

/** Transformations can return anything. */
function recordText({
  topic,
  timestampMs,
  key,
  keySchema,
  value,
  valueSchema,
  headers,
}: SinkRecord): ConnectRecordText {
  const shown = Array.isArray(headers) ? headers.slice(0, HEADERS_MAX) : []
  return {
    topic: truncateText(
      describeSafely(() => topic),
      300,
    ),
    timestampMs: typeof timestampMs === 'number' ? timestampMs : null,
    key: dataText(key, keySchema),
    value: dataText(value, valueSchema),
    headers: shown.map((header) => ({
      name: truncateText(
        describeSafely(() => header.key),
        300,
      ),
      value: dataText(header.value, header.schema, HEADER_LENGTH_MAX),
    })),
  }
}

function dataText(value: unknown, schema: Schema | null | undefined, lengthMax = TEXT_LENGTH_MAX): ConnectDataText {
  try {
    const text = connectJson({ schema: schema ?? null, value })
    const named = schema && (schema.name === undefined ? schema.type : `${schema.type} ${schema.name}`)
    return {
      text: truncateText(text, lengthMax, ''),
      isTruncated: text.length > lengthMax,
      schema: named
        ? truncateText(
            describeSafely(() => named),
            300,
          )
        : null,
      problem: null,
    }
  } catch (error) {
    const problem = truncateText(
      describeSafely(() => exceptionMessage(error)),
      MESSAGE_LENGTH_MAX,
    )
    return { text: '', isTruncated: false, schema: null, problem }
  }
}
