import { z } from 'zod'
import type { ConnectorOffset } from '../../clients/worker.ts'
import type { ClusterReader } from '../cluster/cluster.ts'
import { durationMs } from '../resources/fields.ts'
import type { Resource } from '../resources/resource.ts'

/** Key of the offsets in a ConfigMap. */
export const OFFSETS_KEY = 'offsets.json'
const EXPORT_REQUESTED = 'weir.dev/offsets-export-requested-at'

/**
 * The offsets to set, or a description of why they are not available: the ConfigMap is missing, or its content is
 * invalid.
 */
export type ResolvedOffsets =
  | { readonly offsets: readonly ConnectorOffset[] }
  | { readonly missing: string }
  | { readonly invalid: string }

/** The declared operation, unless its id was executed before. */
export function pendingOperation({ spec, status }: Resource<'Connector'>) {
  const operation = spec.offsets?.operation
  return operation?.id === status.offsets?.lastOperationId ? undefined : operation
}

export async function resolveOffsets(
  resource: Resource<'Connector'>,
  cluster: ClusterReader,
): Promise<ResolvedOffsets> {
  const { offsets = [], offsetsFrom } = pendingOperation(resource) ?? {}
  if (offsetsFrom === undefined) {
    return { offsets: offsets.map(({ partition, offset }) => ({ partition, offset: offset ?? null })) }
  }
  const { name, key } = offsetsFrom.configMapKeyRef
  const text = (await cluster.configMap(resource.metadata.namespace, name))?.[key]
  return text === undefined ? { missing: `key ${key} of ConfigMap ${name}` } : read(text, `${name}/${key}`)
}

const part = z.record(z.string(), z.unknown())
/** The format of Connect's REST API, which exports use too. */
const written = z.strictObject({ offsets: z.array(z.strictObject({ partition: part, offset: part.nullable() })) })

function read(text: string, place: string): ResolvedOffsets {
  try {
    return written.parse(JSON.parse(text))
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error)
    return { invalid: `ConfigMap ${place} is not {"offsets": [{"partition": {…}, "offset": {…}}]}: ${reason}` }
  }
}

/** When the offsets are exported next. */
export type OffsetsExport = {
  readonly configMap: string
  /** 0 or less: now. */
  readonly inMs: number
  /** Value of the annotation that requested the export. */
  readonly token: string | undefined
}

/** Undefined without an export, or with one that is made only on request and was not requested. */
export function planOffsetsExport(
  { spec, metadata, status }: Resource<'Connector'>,
  nowMs: number,
): OffsetsExport | undefined {
  const { export: kept } = spec.offsets ?? {}
  if (kept === undefined) return undefined
  const { configMapRef, interval } = kept
  const token = metadata.annotations[EXPORT_REQUESTED]
  const { lastExportTime } = status.offsets ?? {}
  const asked = token !== undefined && token !== status.lastHandledOffsetsExport
  if (asked) return { configMap: configMapRef.name, inMs: 0, token }
  if (interval === undefined) return undefined
  const lastMs = lastExportTime === undefined ? Number.NEGATIVE_INFINITY : Date.parse(lastExportTime)
  // A clock that was set back delays the next export by one interval at most.
  const inMs = Math.min(lastMs + durationMs(interval) - nowMs, durationMs(interval))
  return { configMap: configMapRef.name, inMs, token }
}
