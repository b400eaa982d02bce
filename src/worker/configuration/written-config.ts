import type { RawConfig } from '../../sdk/index.ts'

/** A configuration as submitted; null stands for a JSON null, which is invalid. */
export type WrittenConfig = Readonly<Record<string, string | null>>

/** The entries that are not null. */
export function withoutNulls(written: WrittenConfig): RawConfig {
  return Object.fromEntries(Object.entries(written).filter((pair): pair is [string, string] => pair[1] !== null))
}
