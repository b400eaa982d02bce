import { expect, it } from 'vitest'
import type { TopicUse } from '../../src/common/topic-use.ts'
import { filterTopology, layOutTopology, PICTURE_TOPICS_MAX, topologyTopics } from '../../src/console/page/topology.ts'

const use = (connector: string, kind: TopicUse['kind'], topic: string, ...subjects: string[]): TopicUse => ({
  ...{ connector, kind, topic, subjects },
})
const topics = topologyTopics([
  use('out', 'reads', 'orders', 'orders-value'),
  use('in', 'writes', 'orders', 'orders-value'),
  use('out', 'dead letters', 'failed'),
  use('again', 'reads', 'failed'),
])

it('A topic has the connectors that write it, whose dead letters it gets, and that read it, and its subjects', () => {
  expect(topics).toEqual([
    { topic: 'failed', writers: [], deadLettersOf: ['out'], readers: ['again'], subjects: [] },
    { topic: 'orders', writers: ['in'], deadLettersOf: [], readers: ['out'], subjects: ['orders-value'] },
  ])
})

it.each([
  ['OUT orders-value', ['orders']],
  ['out', ['failed', 'orders']],
  ['nothing', []],
])('The search %j finds the topics %j', (search, found) => {
  expect(filterTopology(topics, search).map(({ topic }) => topic)).toEqual(found)
})

it('The picture has the edges of the topics that it shows', () => {
  const { edges } = layOutTopology(topics)
  expect(edges.map(({ from, to, isDeadLetters }) => `${from.name} ${to.name} ${isDeadLetters}`)).toEqual([
    'out failed true',
    'failed again false',
    'in orders false',
    'orders out false',
  ])
})

it('The picture is bounded', () => {
  const many = topologyTopics(
    Array.from({ length: 10_000 }, (_, at) => use(`c${at}`, at % 2 ? 'reads' : 'writes', `t${at % 3_000}`)),
  )
  const { nodes, edges, height } = layOutTopology(many)
  expect(nodes.length).toBeLessThanOrEqual(PICTURE_TOPICS_MAX + 80)
  expect(edges.length).toBeLessThan(200)
  expect(height).toBeLessThan(2_000)
})
