import type { DocumentOperation } from './document-operation.ts'

/**
 * What the server did with a document. `superseded`: it has a newer version, or was created before; `retriable`: it may be accepted
 * later; `missing`: its index does not exist any more; `malformed`: it is never accepted; `forbidden`: nor is any other one.
 */
export type DocumentOutcome = {
  readonly kind: 'stored' | 'superseded' | 'retriable' | 'missing' | 'malformed' | 'forbidden'
  /** Type and reason of the error; '' if there is none. */
  readonly reason: string
}

type Item = {
  readonly status?: number
  readonly error?: {
    readonly type?: string
    readonly reason?: string
    readonly caused_by?: { readonly reason?: string }
  }
}

/** The outcomes of the operations of a bulk request. Throws an `Error` if the response does not have them. */
export function readBulkResponse(body: Buffer, operations: readonly DocumentOperation[]): readonly DocumentOutcome[] {
  const { items } = JSON.parse(body.toString()) as { readonly items?: readonly Readonly<Record<string, Item>>[] }
  if (!Array.isArray(items) || items.length !== operations.length) {
    throw new Error(
      `the response to a bulk request of ${operations.length} documents has ${items?.length ?? 'no'} results`,
    )
  }
  return operations.map((operation, at) => outcomeOf(Object.values(items[at]!)[0] ?? {}, operation))
}

/** Errors for which the server does not have status 429 or 503 in all versions. */
const RETRIED_TYPES = new Set([
  'cluster_block_exception',
  'es_rejected_execution_exception',
  'rejected_execution_exception',
])
const SUCCESS_STATUSES = { min: 200, max: 299 }

function outcomeOf({ status = 0, error }: Item, { action }: DocumentOperation): DocumentOutcome {
  if (error === undefined) {
    const isStored = status >= SUCCESS_STATUSES.min && status <= SUCCESS_STATUSES.max
    // A deletion of a document that does not exist has status 404.
    return isStored || (status === 404 && action === 'delete')
      ? { kind: 'stored', reason: '' }
      : { kind: 'retriable', reason: `status ${status}` }
  }
  const { type = '', reason = '', caused_by: cause } = error
  const text = [`${type}: ${reason}`, ...(cause?.reason === undefined ? [] : [cause.reason])].join(': ')
  return { kind: kindOf(status, type, action), reason: text }
}

function kindOf(status: number, type: string, action: DocumentOperation['action']): DocumentOutcome['kind'] {
  // An update has no version: it conflicted with another writer as often as the server tried.
  if (type === 'version_conflict_engine_exception') return action === 'update' ? 'retriable' : 'superseded'
  if (type === 'index_not_found_exception') return 'missing'
  if (RETRIED_TYPES.has(type) || status === 408 || status === 429 || status >= 500) return 'retriable'
  return status === 401 || status === 403 ? 'forbidden' : 'malformed'
}
