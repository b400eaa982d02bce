import type { KeyRecord } from './key.ts'
import type { KeyView } from './key-state.ts'

/** The result of a command: the records to write, in order and in one batch, and the response once they are applied. */
export type KeyDecision<Response> = {
  readonly records: readonly KeyRecord[]
  readonly respond: (view: KeyView) => Response
}

export function writeKeys(records: readonly KeyRecord[]): KeyDecision<void> {
  return { records, respond: () => undefined }
}
