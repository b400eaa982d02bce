import { z } from 'zod'
import type { ConnectorOffset } from '../../clients/worker-client.ts'
import { parseExactJson } from '../../common/exact-json.ts'
import type { ClusterReader } from '../cluster/cluster.ts'
import type { Resource } from '../resources/resource.ts'

/** Key of the offsets in a ConfigMap. */
export const OFFSETS_KEY = 'offsets.json'

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
  const text = (await cluster.configMap(resource.metadata.namespace, name))?.get(key)
  return text === undefined ? { missing: `key ${key} of ConfigMap ${name}` } : parseOffsets(text, `${name}/${key}`)
}

const jsonObject = z.record(z.string(), z.unknown())
/** The format of Connect's REST API, which exports use too. */
const offsetsSchema = z.strictObject({
  offsets: z.array(z.strictObject({ partition: jsonObject, offset: jsonObject.nullable() })),
})

function parseOffsets(text: string, source: string): ResolvedOffsets {
  try {
    return offsetsSchema.parse(parseExactJson(text))
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error)
    return {
      invalid: `ConfigMap ${source} does not contain {"offsets": [{"partition": {…}, "offset": {…}}]}: ${reason}`,
    }
  }
}
