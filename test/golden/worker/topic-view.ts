import type { TopicRecord } from './recording.ts'

/** The last value under each key of the three topics, without what differs from run to run. Tombstones are left out. */
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

/** With the partition: another hash of keys would be another topic to a Java worker. */
export function viewKey({ topic, partition, key }: TopicRecord): string {
  return `${topic}/${partition} ${key}`
}

function steady(key: string, value: string): string {
  if (key === 'session-key') return 'a key'
  // Which of a connector's tasks is the first to see a topic is a matter of luck.
  if (key.startsWith('status-topic-')) return value.replace(/"task":\d+,"discoverTimestamp":\d+/, '')
  return key.startsWith('status-') ? value.replace(/"generation":\d+/, '"generation":0') : value
}
