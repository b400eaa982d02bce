import type { ConnectorOffset, WorkerClient } from '../../clients/worker-client.ts'
import { printExactJson } from '../../common/exact-json.ts'
import type { Requeue } from '../controller/controller.ts'
import { TerminalError } from '../controller/reconcile-error.ts'
import type { ReconcileResult } from '../controller/reconciler.ts'
import { requestOf } from '../resources/annotations.ts'
import { durationMs } from '../resources/field-schemas.ts'
import type { Resource } from '../resources/resource.ts'
import { STEP_CHECK_MS } from './connector-step.ts'
import { OFFSETS_KEY } from './offsets-operation.ts'

/** When the offsets are exported next. */
type OffsetsExport = {
  readonly configMap: string
  /** 0 or less: now. */
  readonly inMs: number
  /** Value of the annotation that requested the export. */
  readonly token: string | undefined
}

/** Undefined without an export, or with one that is made only on request and was not requested. */
function planOffsetsExport(resource: Resource<'Connector'>, nowMs: number): OffsetsExport | undefined {
  const { spec, status } = resource
  const { export: declared } = spec.offsets ?? {}
  if (declared === undefined) return undefined
  const { configMapRef, interval } = declared
  const token = requestOf(resource, 'offsets-export')
  const { lastExportTime } = status.offsets ?? {}
  const isRequested = token !== undefined && token !== status.lastHandledOffsetsExport
  if (isRequested) return { configMap: configMapRef.name, inMs: 0, token }
  if (interval === undefined) return undefined
  const lastMs = lastExportTime === undefined ? Number.NEGATIVE_INFINITY : Date.parse(lastExportTime)
  // A clock that was set back delays the next export by one interval at most.
  const inMs = Math.min(lastMs + durationMs(interval) - nowMs, durationMs(interval))
  return { configMap: configMapRef.name, inMs, token }
}

/** Adds the export of the offsets to a result if an export is due; otherwise requeues in time for the next one. */
export async function withOffsetsExport(
  result: ReconcileResult<'Connector'>,
  resource: Resource<'Connector'>,
  worker: WorkerClient,
  nowMs: number,
): Promise<ReconcileResult<'Connector'>> {
  const next = planOffsetsExport(resource, nowMs)
  if (next === undefined) return result
  if (next.inMs > 0) return { ...result, requeue: requeueWithin(result.requeue, next.inMs) }
  const connector = result.statusFields.connectorName ?? ''
  const offsets = await worker.offsets(connector)
  const text = printOffsets(offsets, connector, next.configMap)
  const note = `exported ${offsets.length} offsets to ConfigMap ${next.configMap}`
  return {
    ...result,
    exportedConfigMap: {
      configMap: next.configMap,
      data: { [OFFSETS_KEY]: text },
    },
    statusFields: {
      ...result.statusFields,
      ...(next.token !== undefined && { lastHandledOffsetsExport: next.token }),
      offsets: { ...result.statusFields.offsets, lastExportTime: new Date(nowMs).toISOString() },
    },
    events: [...(result.events ?? []), { type: 'Normal', reason: 'OffsetsExported', note }],
    requeue: { afterMs: STEP_CHECK_MS },
  }
}

/** The size of the data of a ConfigMap that Kubernetes accepts. */
const CONFIG_MAP_BYTES_MAX = 1_048_576

/**
 * Indented if the ConfigMap holds that much. Throws a `TerminalError` when the offsets do not fit: a part of them would not be an
 * export.
 */
function printOffsets(offsets: readonly ConnectorOffset[], connector: string, configMap: string): string {
  const texts = [2, 0].map((indent) => `${printExactJson({ offsets }, indent)}\n`)
  const text = texts.find((one) => OFFSETS_KEY.length + Buffer.byteLength(one) <= CONFIG_MAP_BYTES_MAX)
  if (text !== undefined) return text
  throw new TerminalError(
    'OffsetsRejected',
    `the ${offsets.length} offsets of connector ${connector} have ${Buffer.byteLength(texts[1]!)} bytes, and a ConfigMap holds at most ` +
      `${CONFIG_MAP_BYTES_MAX}: ConfigMap ${configMap} is left as it was. Remove offsets.export, and keep the response of ` +
      `GET /connectors/${connector}/offsets elsewhere`,
  )
}

function requeueWithin(requeue: Requeue, ms: number): Requeue {
  if (requeue === 'rate-limited') return requeue
  return requeue === 'none' ? { afterMs: ms } : { afterMs: Math.min(requeue.afterMs, ms) }
}
