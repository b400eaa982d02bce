import type { TopicUse } from '../../common/topic-use.ts'
import { compareText } from './sort-rows.ts'

/** A topic with the connectors that write and read it. */
export type TopologyTopic = {
  readonly topic: string
  readonly writers: readonly string[]
  /** Sinks whose dead letters it gets. */
  readonly deadLettersOf: readonly string[]
  readonly readers: readonly string[]
  readonly subjects: readonly string[]
}

export function topologyTopics(uses: readonly TopicUse[]): readonly TopologyTopic[] {
  const byTopic = Map.groupBy(uses, ({ topic }) => topic)
  const connectors = (ofTopic: readonly TopicUse[], kind: TopicUse['kind']) =>
    ofTopic.flatMap((use) => (use.kind === kind ? [use.connector] : [])).sort(compareText)
  return [...byTopic]
    .map(([topic, ofTopic]) => ({
      topic,
      writers: connectors(ofTopic, 'writes'),
      deadLettersOf: connectors(ofTopic, 'dead letters'),
      readers: connectors(ofTopic, 'reads'),
      subjects: [...new Set(ofTopic.flatMap(({ subjects }) => subjects))].sort(compareText),
    }))
    .sort((a, b) => compareText(a.topic, b.topic))
}

/** `search` matches all of its words in the names of a topic, its connectors and its subjects. */
export function filterTopology(topics: readonly TopologyTopic[], search: string): readonly TopologyTopic[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return topics.filter(({ topic, writers, deadLettersOf, readers, subjects }) => {
    const text = [topic, ...writers, ...deadLettersOf, ...readers, ...subjects].join('\n').toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

export type TopologyNode = {
  readonly kind: 'connector' | 'topic'
  readonly name: string
  readonly title: string
  readonly x: number
  readonly y: number
}
export type TopologyEdge = { readonly from: TopologyNode; readonly to: TopologyNode; readonly isDeadLetters: boolean }

/** Connectors that write at the left, topics, and connectors that read at the right. Sizes are in pixels. */
export type TopologyLayout = {
  readonly width: number
  readonly height: number
  readonly nodes: readonly TopologyNode[]
  readonly edges: readonly TopologyEdge[]
}

export const TOPOLOGY_NODE = { width: 290, height: 28 } as const
const GAP = { x: 130, y: 10 }
const MARGIN = 4
const TITLE_MAX = 36
/** More would not be readable. */
export const PICTURE_TOPICS_MAX = 20
const COLUMN_MAX = 40

/** The picture of the first topics. Further ones are in the list. */
export function layOutTopology(topics: readonly TopologyTopic[]): TopologyLayout {
  const shown = topics.slice(0, PICTURE_TOPICS_MAX)
  const names = {
    writers: namesOf(shown, ({ writers, deadLettersOf }) => [...writers, ...deadLettersOf]),
    topics: shown.map(({ topic }) => topic),
    readers: namesOf(shown, ({ readers }) => readers),
  }
  const step = TOPOLOGY_NODE.height + GAP.y
  const column = (kind: TopologyNode['kind'], at: number, all: readonly string[], yOf: (name: string) => number) => {
    let free = MARGIN
    return new Map(
      all.map((name) => {
        const y = Math.max(free, yOf(name))
        free = y + step
        return [name, { kind, name, title: titleOf(name), x: MARGIN + at * (TOPOLOGY_NODE.width + GAP.x), y }] as const
      }),
    )
  }
  const writers = column('connector', 0, names.writers, () => 0)
  const readers = column('connector', 2, names.readers, () => 0)
  // A topic is beside the first of its connectors, where it is seen with them.
  const connectorsOf = new Map(shown.map((one) => [one.topic, [...one.writers, ...one.deadLettersOf, ...one.readers]]))
  const middle = column('topic', 1, names.topics, (topic) => {
    const beside = (connectorsOf.get(topic) ?? []).flatMap((name) => [writers.get(name)?.y, readers.get(name)?.y])
    const known = beside.filter((y) => y !== undefined)
    return known.length === 0 ? 0 : Math.min(...known)
  })
  const nodes = [...writers.values(), ...middle.values(), ...readers.values()]
  const edge = (from: TopologyNode | undefined, to: TopologyNode | undefined, isDeadLetters = false) =>
    from === undefined || to === undefined ? [] : [{ from, to, isDeadLetters }]
  const edges = shown.flatMap((one) => {
    const node = middle.get(one.topic)
    return [
      ...one.writers.flatMap((name) => edge(writers.get(name), node)),
      ...one.deadLettersOf.flatMap((name) => edge(writers.get(name), node, true)),
      ...one.readers.flatMap((name) => edge(node, readers.get(name))),
    ]
  })
  return {
    width: 3 * (TOPOLOGY_NODE.width + GAP.x) - GAP.x + 2 * MARGIN,
    height: Math.max(0, ...nodes.map(({ y }) => y)) + TOPOLOGY_NODE.height + MARGIN,
    nodes,
    edges,
  }
}

/** In the order of their topics, so that few edges cross. */
function namesOf(topics: readonly TopologyTopic[], of: (topic: TopologyTopic) => readonly string[]): readonly string[] {
  return [...new Set(topics.flatMap(of))].slice(0, COLUMN_MAX)
}

/** The end of a name says more than its beginning, which is a namespace. */
function titleOf(name: string): string {
  const characters = [...name]
  return characters.length > TITLE_MAX ? `…${characters.slice(1 - TITLE_MAX).join('')}` : name
}
