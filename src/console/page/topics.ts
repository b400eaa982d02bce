// What `/ui/api/topics` of a worker responds with, and what the views of topics show of it.

export type TopicListing = {
  readonly topics: readonly ListedTopic[]
  readonly total: number
  readonly sizesProblem: string | null
  readonly configsProblem: string | null
}
export type ListedTopic = {
  readonly name: string
  readonly isInternal: boolean
  readonly partitions: number
  readonly replicas: number
  readonly bytes: number | null
  readonly configs: Readonly<Record<string, string>> | null
}
export type TopicInfo = {
  readonly name: string
  readonly isInternal: boolean
  readonly partitions: readonly {
    readonly partition: number
    readonly leader: number
    readonly replicas: number
    readonly earliest: number | null
    readonly end: number | null
    readonly bytes: number | null
  }[]
  readonly partitionCount: number
  readonly offsetsProblem: string | null
  readonly sizesProblem: string | null
  readonly configs: {
    readonly value?: readonly { readonly name: string; readonly value: string; readonly isOwn: boolean }[]
    readonly problem?: string
  }
  readonly connectors: readonly string[]
}
export type GroupListing = {
  readonly groups: readonly GroupLag[]
  readonly groupCount: number
  readonly askedGroups: number
  readonly problems: readonly string[]
}
export type GroupLag = {
  readonly groupId: string
  readonly state: string | null
  readonly members: number | null
  readonly lag: number
  readonly partitions: readonly {
    readonly partition: number
    readonly offset: number
    readonly end: number
    readonly lag: number
  }[]
}

export const TOPICS_PER_PAGE = 200

/** The request for the list, whose state is in the URL. */
export function topicListPath(
  basePath: string,
  { search = '', internal = '', offset = '' }: Readonly<Record<string, string>>,
) {
  const query = new URLSearchParams({ limit: String(TOPICS_PER_PAGE) })
  for (const [name, value] of Object.entries({ search, internal, offset })) if (value) query.set(name, value)
  return `${basePath}/ui/api/topics?${query}`
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const

/** `1.2 MB`; `unknown` where the worker's account may not know it. */
export function bytesText(bytes: number | null): string {
  if (bytes === null) return 'unknown'
  const unit = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), UNITS.length - 1)
  const value = bytes / 1_000 ** unit
  return `${value >= 100 || unit === 0 ? Math.round(value) : Number(value.toPrecision(2))} ${UNITS[unit]}`
}

const DURATIONS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const

/** What a topic keeps: `7 d`, `compacted`, `1 d or 50 MB`, `all`. */
export function retentionText(configs: ListedTopic['configs']): string {
  if (configs === null) return 'unknown'
  const policies = (configs['cleanup.policy'] ?? '').split(',').map((policy) => policy.trim())
  const [ms, bytes] = [Number(configs['retention.ms'] ?? -1), Number(configs['retention.bytes'] ?? -1)]
  const limits = [ms >= 0 ? durationText(ms) : '', bytes >= 0 ? bytesText(bytes) : ''].filter(Boolean).join(' or ')
  if (!policies.includes('compact')) return limits || 'all'
  return policies.includes('delete') && limits ? `compacted, ${limits}` : 'compacted'
}

function durationText(ms: number): string {
  const [unitMs, unit] = DURATIONS.find(([unitMs]) => ms >= unitMs && ms % unitMs === 0) ?? [1, 'ms']
  return `${(ms / unitMs).toLocaleString('en')} ${unit}`
}

/** The number of offsets, which is that of the records, if nothing was compacted or aborted. */
export function offsetSpan({ earliest, end }: TopicInfo['partitions'][number]): number | null {
  return earliest === null || end === null ? null : end - earliest
}
