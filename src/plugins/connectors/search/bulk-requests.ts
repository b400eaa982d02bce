import type { DocumentOperation } from './document-operation.ts'
import type { SearchSinkSettings } from './search-sink-settings.ts'

/**
 * Distributes operations to as many lanes as there are requests to fill, at most `requestsMax`. The operations of a document, and
 * those of a partition whose documents have no ids, share a lane and stay in order.
 */
export function toLanes(
  operations: readonly DocumentOperation[],
  { batch, requestsMax }: Pick<SearchSinkSettings, 'batch' | 'requestsMax'>,
): readonly (readonly DocumentOperation[])[] {
  const bytes = operations.reduce((sum, operation) => sum + operation.bytes, 0)
  const requests = Math.max(Math.ceil(operations.length / batch.recordsMax), Math.ceil(bytes / batch.bytesMax))
  const lanes = Array.from({ length: Math.min(requestsMax, requests) }, (): DocumentOperation[] => [])
  for (const operation of operations) lanes[laneOf(operation, lanes.length)]!.push(operation)
  return lanes.filter((lane) => lane.length > 0)
}

function laneOf(operation: DocumentOperation, lanes: number): number {
  const name = documentName(operation)
  let hash = 0
  for (let index = 0; index < name.length; index++) hash = (Math.imul(hash, 31) + name.charCodeAt(index)) | 0
  return (hash >>> 0) % lanes
}

/**
 * Divides a lane into requests. The server may accept a later operation of a request and not an earlier one, so a request has only
 * one operation of a document unless versions keep an older one from replacing a newer one.
 */
export function* toBulks(
  lane: readonly DocumentOperation[],
  { recordsMax, bytesMax }: SearchSinkSettings['batch'],
): Generator<readonly DocumentOperation[]> {
  let bulk: DocumentOperation[] = []
  let bytes = 0
  let documents = new Set<string>()
  for (const operation of lane) {
    const name = operation.isVersioned || operation.id === undefined ? undefined : documentName(operation)
    const isFull = bulk.length >= recordsMax || bytes + operation.bytes > bytesMax
    if (bulk.length > 0 && (isFull || (name !== undefined && documents.has(name)))) {
      yield bulk
      bulk = []
      bytes = 0
      documents = new Set()
    }
    bulk.push(operation)
    bytes += operation.bytes
    if (name !== undefined) documents.add(name)
  }
  if (bulk.length > 0) yield bulk
}

function documentName({ resource, id, record }: DocumentOperation): string {
  return id === undefined ? `${record.topic}-${record.partition}` : `${resource}/${id}`
}
