import type { KeyRecord } from './key.ts'
import type { KeyView } from './key-state.ts'

/** What a request results in: records to write, in order and together, and the response once they are applied. */
export type KeyDecision<Response> = {
  readonly records: readonly KeyRecord[]
  readonly respond: (view: KeyView) => Response
}

export function writeKeys(records: readonly KeyRecord[]): KeyDecision<void> {
  return { records, respond: () => undefined }
}
