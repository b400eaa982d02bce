import { expect, it } from 'vitest'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import type { TaskClients } from '../../../src/worker/tasks/task-clients.ts'
import type { TaskMessage } from '../../../src/worker/tasks/task-spec.ts'
import { TaskTopics } from '../../../src/worker/tasks/task-topics.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { TASK_DEFAULTS, taskSpec } from '../../support/task.ts'
import { addConnector, createTestWorkRunner, SOURCE } from '../../support/work-runner.ts'

const TOPIC = { type: 'topic', topic: 'orders' } as const

it('a topic is created once, and reported at intervals while it is in use', async () => {
  const clock = new FakeClock()
  const reported: TaskMessage[] = []
  const created: string[] = []
  const clients = { topics: async () => ({ create: async ({ name }: { name: string }) => void created.push(name) }) }
  const topics = new TaskTopics({
    clients: clients as unknown as TaskClients,
    clock,
    log: silentLogger(),
    spec: taskSpec({ class: 'Datagen', kind: 'source' }, {}, { worker: { ...TASK_DEFAULTS, trackTopics: true } }),
    report: (message) => reported.push(message),
  })
  const write = () => topics.ensureTopicsOf([{ topic: 'orders', key: null, value: null }])
  await write()
  await clock.advance(9_999)
  await write()
  expect(reported).toEqual([TOPIC])
  await clock.advance(1)
  await write()
  expect(reported).toEqual([TOPIC, TOPIC])
  await clock.advance(60_000)
  expect(reported).toHaveLength(2)
  expect(created).toEqual(['orders'])
})

it('a topic in use is stored again after a reset of the active topics, and not while it is stored', async () => {
  const { runner, parts, statuses, configs, tasks } = createTestWorkRunner()
  let stores = 0
  const store = (isActive: boolean) => statuses.apply({ kind: 'topic', connector: 'c', topic: 'orders', isActive })
  Object.assign(parts.statuses, {
    putTopic: async () => {
      stores += 1
      store(true)
    },
  })
  addConnector(configs, 1)
  await runner.execute([{ do: 'start-task', id: { connector: 'c', task: 0 }, config: SOURCE, target: 'STARTED' }])
  tasks[0]?.report(TOPIC)
  tasks[0]?.report(TOPIC)
  expect(stores).toBe(1)
  store(false)
  tasks[0]?.report(TOPIC)
  expect(statuses.topics('c')).toEqual(['orders'])
  await runner.stopTask({ connector: 'c', task: 0 })
  store(false)
  tasks[0]?.report(TOPIC)
  expect(statuses.topics('c')).toEqual([])
})
