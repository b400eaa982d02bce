import type { WorkerClient } from '../../clients/worker-client.ts'
import { printExactJson } from '../../common/exact-json.ts'
import type { Requeue } from '../controller/controller.ts'
import type { ReconcileResult } from '../controller/reconciler.ts'
import { durationMs } from '../resources/field-schemas.ts'
import type { Resource } from '../resources/resource.ts'
import { STEP_CHECK_MS } from './connector-step.ts'
import { OFFSETS_KEY } from './offsets-operation.ts'

const EXPORT_REQUESTED = 'weir.dev/offsets-export-requested-at'

/** When the offsets are exported next. */
type OffsetsExport = {
  readonly configMap: string
  /** 0 or less: now. */
  readonly inMs: number
  /** Value of the annotation that requested the export. */
  readonly token: string | undefined
}

/** Undefined without an export, or with one that is made only on request and was not requested. */
function planOffsetsExport(
  { spec, metadata, status }: Resource<'Connector'>,
  nowMs: number,
): OffsetsExport | undefined {
  const { export: declared } = spec.offsets ?? {}
  if (declared === undefined) return undefined
  const { configMapRef, interval } = declared
  const token = metadata.annotations[EXPORT_REQUESTED]
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
  const offsets = await worker.offsets(result.statusFields.connectorName ?? '')
  const note = `exported ${offsets.length} offsets to ConfigMap ${next.configMap}`
  return {
    ...result,
    exportedConfigMap: {
      configMap: next.configMap,
      data: { [OFFSETS_KEY]: `${printExactJson({ offsets }, 2)}\n` },
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

function requeueWithin(requeue: Requeue, ms: number): Requeue {
  if (requeue === 'rate-limited') return requeue
  return requeue === 'none' ? { afterMs: ms } : { afterMs: Math.min(requeue.afterMs, ms) }
}
