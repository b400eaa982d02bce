import type { TopicRecord } from './recording.ts'

/** The last value of each key in the three topics, without parts that differ between runs and without tombstones. */
export type TopicView = ReadonlyMap<string, string>

export function viewOf(records: readonly TopicRecord[]): TopicView {
  const view = new Map<string, string>()
  for (const record of records) {
    const key = viewKey(record)
    if (record.value === null) view.delete(key)
    else view.set(key, steady(record.key, record.value))
  }
  return view
}

/** Includes the partition, because a different hash of keys would be incompatible with Java workers. */
export function viewKey({ topic, partition, key }: TopicRecord): string {
  return `${topic}/${partition} ${key}`
}

function steady(key: string, value: string): string {
  if (key === 'session-key') return 'a key'
  // Which of a connector's tasks is the first to see a topic is a matter of luck.
  if (key.startsWith('status-topic-')) return value.replace(/"task":\d+,"discoverTimestamp":\d+/, '')
  return key.startsWith('status-') ? value.replace(/"generation":\d+/, '"generation":0') : value
}
