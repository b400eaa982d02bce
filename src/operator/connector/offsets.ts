import { z } from 'zod'
import type { ConnectorOffset } from '../../clients/worker.ts'
import type { ClusterReader } from '../cluster/cluster.ts'
import { durationMs } from '../resources/fields.ts'
import type { Resource } from '../resources/resource.ts'

/** Key in a ConfigMap under which offsets stand. */
export const OFFSETS_KEY = 'offsets.json'
const EXPORT_REQUESTED = 'weir.dev/offsets-export-requested-at'

/** What a declared operation sets, or in words why that is not known: it is not there yet, or it is none. */
export type ResolvedOffsets =
  | { readonly offsets: readonly ConnectorOffset[] }
  | { readonly missing: string }
  | { readonly invalid: string }

/** The operation that is declared and was not carried out yet. */
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
/** As the worker answers them, and as they are exported. */
const written = z.strictObject({ offsets: z.array(z.strictObject({ partition: part, offset: part.nullable() })) })

function read(text: string, place: string): ResolvedOffsets {
  try {
    return written.parse(JSON.parse(text))
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error)
    return { invalid: `ConfigMap ${place} is not {"offsets": [{"partition": {…}, "offset": {…}}]}: ${reason}` }
  }
}

/** A copy that is to be made of the offsets, or when the next one is. */
export type OffsetsExport = {
  readonly configMap: string
  /** 0 or less: now. */
  readonly inMs: number
  /** The request that it answers. */
  readonly token: string | undefined
}

/** Undefined where no copy is kept, or only on request and there is none. */
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
  // A clock that was set back does not put the next copy off for longer than one interval.
  const inMs = Math.min(lastMs + durationMs(interval) - nowMs, durationMs(interval))
  return { configMap: configMapRef.name, inMs, token }
}
