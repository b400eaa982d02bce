import type { RawConfig } from '../../sdk/index.ts'

/** A written configuration: null stands for a JSON null, which is never right. */
export type WrittenConfig = Readonly<Record<string, string | null>>

/** What is really written. */
export function withoutNulls(written: WrittenConfig): RawConfig {
  return Object.fromEntries(Object.entries(written).filter((pair): pair is [string, string] => pair[1] !== null))
}
