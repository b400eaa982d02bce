import { describe, expect, it } from 'vitest'
import { BrokerError, OpenTransactionError } from '../../../src/broker/broker-error.ts'
import { UserError } from '../../../src/common/errors.ts'
import { createLogger } from '../../../src/common/logging/logger.ts'
import type { WorkRunnerOptions } from '../../../src/worker/herder/work-runner.ts'
import { WorkerError } from '../../../src/worker/model/worker-error.ts'
import type { ConfigState } from '../../../src/worker/stores/config-state.ts'
import { addConnector, createTestWorkRunner, SOURCE } from '../../support/work-runner.ts'

const ID = { connector: 'c', task: 0 }
const START = { do: 'start-task', id: ID, config: SOURCE, target: 'STARTED' } as const
const FENCED_AS = { producerId: 7n, epoch: 3 }

describe('the start of an exactly-once task', () => {
  it('starts an exactly-once task only after fencing has succeeded, and retries fencing', async () => {
    let refusals = 2
    const fence = async () => {
      if (refusals-- > 0) throw new Error('nobody leads')
      return FENCED_AS
    }
    const { runner, configs, written, statuses, tasks, clock } = createTestWorkRunner({ fence })
    addConnector(configs, 1)
    await runner.execute([START])
    expect(tasks).toEqual([])
    await clock.advance(0)
    const reason = 'the task cannot start yet, which is retried: nobody leads'
    expect(statuses.task('c', 0)).toMatchObject({ state: 'UNASSIGNED', trace: reason })
    await clock.advance(2_000)
    expect(written).toEqual(['c-0 UNASSIGNED', 'offsets'])
    expect(tasks[0]?.spec).toMatchObject({ transactionalId: 'workers-c-0', fencedAs: FENCED_AS })
  })

  it.each([
    ['this worker', new BrokerError('not_authorized', 'WRITE on transactional id workers-c-0')],
    ['the leader', new WorkerError('fencing_rejected', 'the leader: WRITE on transactional id workers-c-0')],
    ['its configuration', new UserError('invalid_config', 'WRITE on transactional id workers-c-0')],
    ['a bug', new TypeError('WRITE on transactional id workers-c-0')],
  ])('fails an exactly-once task that %s keeps from starting, until it is restarted', async (_, error) => {
    let isDenied = true
    const fence = async () => {
      if (isDenied) throw error
      return FENCED_AS
    }
    const { runner, configs, statuses, tasks, clock, written } = createTestWorkRunner({ fence })
    addConnector(configs, 1)
    await runner.execute([START])
    await clock.advance(0)
    const trace = expect.stringContaining('WRITE on transactional id workers-c-0')
    expect(statuses.task('c', 0)).toMatchObject({ state: 'FAILED', trace })
    isDenied = false
    await clock.advance(600_000)
    expect(tasks).toEqual([])
    expect(written).toEqual(['c-0 FAILED'])
    await runner.stopTask(ID, 'RESTARTING')
    await runner.execute([START])
    await clock.advance(0)
    tasks[0]?.report({ type: 'running' })
    expect(statuses.task('c', 0)).toMatchObject({ state: 'RUNNING', trace: null })
  })

  it('logs once why a task cannot start, however often that is retried', async () => {
    const lines: string[] = []
    const fence = async () => {
      throw new BrokerError('unavailable', 'no coordinator')
    }
    const logger = createLogger({ level: 'info', write: (line) => void lines.push(line) })
    const { runner, clock } = createTestWorkRunner({ fence, logger })
    await runner.execute([START])
    await clock.advance(300_000)
    expect(lines.filter((line) => line.includes('no coordinator')).map((line) => JSON.parse(line).msg)).toEqual([
      'a task waits for the end of its predecessors, whose producers are fenced, which is retried until it succeeds',
    ])
  })

  it('fails an exactly-once task that waits over 90 s for an open transaction, with the remedy, and starts it afterwards', async () => {
    const held = new OpenTransactionError('end it with: kafka-transactions.sh abort', [])
    let isHeld = true
    const fence = async () => {
      if (isHeld) throw held
      return FENCED_AS
    }
    const { runner, configs, statuses, tasks, clock } = createTestWorkRunner({ fence })
    addConnector(configs, 1)
    await runner.execute([START])
    await clock.advance(60_000)
    expect(statuses.task('c', 0)?.state).not.toBe('FAILED')
    await clock.advance(100_000)
    expect(statuses.task('c', 0)).toMatchObject({ state: 'FAILED', trace: expect.stringContaining(held.message) })
    await clock.advance(5_000)
    expect(runner.workerMetrics().starts.taskFailures).toBe(1)
    isHeld = false
    await clock.advance(60_000)
    tasks[0]?.report({ type: 'running' })
    await clock.advance(0)
    expect(statuses.task('c', 0)).toMatchObject({ state: 'RUNNING', trace: null })
    expect(runner.taskMetrics().map(({ state }) => state)).toEqual(['running'])
  })

  it.each([
    ['the offsets topic of the worker', 'refresh'],
    ['the offsets topic of the connector', 'of'],
  ] as const)('ends forgotten transactions that block %s, and then starts the task', async (_, read) => {
    const open = [{ topic: 'offsets', partition: 2 }]
    const fenced: unknown[] = []
    const fence: WorkRunnerOptions['fence'] = async (_, partitions) => {
      fenced.push(partitions)
      return FENCED_AS
    }
    const { runner, configs, parts, tasks, clock } = createTestWorkRunner({ fence })
    addConnector(configs, 1)
    const readable = parts.offsets[read].bind(parts.offsets) as () => Promise<never>
    Object.assign(parts.offsets, {
      [read]: async () => {
        if (fenced.length === 1) throw new OpenTransactionError('open', open)
        return readable()
      },
    })
    await runner.execute([START])
    await clock.advance(1_000)
    expect(fenced).toEqual([[], open])
    expect(tasks).toHaveLength(1)
  })

  it('does not start a task that was revoked during fencing', async () => {
    const fencing = Promise.withResolvers<typeof FENCED_AS>()
    const { runner, configs, tasks, clock } = createTestWorkRunner({ fence: () => fencing.promise })
    addConnector(configs, 1)
    await runner.execute([START])
    await runner.stopTask(ID)
    fencing.resolve(FENCED_AS)
    await clock.advance(1_000)
    expect(tasks).toEqual([])
  })

  it.each([
    ['other task configurations were', (configs: ConfigState) => addConnector(configs, 1)],
    [
      'its connector was deleted',
      (configs: ConfigState) => configs.apply({ kind: 'connector', connector: 'c', config: null }),
    ],
    ['its stop was', (configs: ConfigState) => configs.apply({ kind: 'target', connector: 'c', target: 'STOPPED' })],
  ])('does not start an exactly-once task when %s stored before it was fenced, and not read', async (_, change) => {
    const { runner, configs, parts, written, tasks, clock } = createTestWorkRunner({ fence: async () => FENCED_AS })
    addConnector(configs, 1)
    Object.assign(parts.configs, { readToEnd: async () => change(configs) })
    await runner.execute([START])
    await clock.advance(600_000)
    expect([tasks, written.filter((one) => one === 'offsets')]).toEqual([[], []])
  })

  it('does not start an exactly-once task until the config topic can be read to its end', async () => {
    const { runner, configs, parts, statuses, tasks, clock } = createTestWorkRunner({ fence: async () => FENCED_AS })
    addConnector(configs, 1)
    let isUnavailable = true
    Object.assign(parts.configs, {
      readToEnd: async () => {
        if (isUnavailable) throw new BrokerError('timeout', 'no leader')
      },
    })
    await runner.execute([START])
    await clock.advance(60_000)
    const trace = 'the task cannot start yet, which is retried: no leader'
    expect([tasks, statuses.task('c', 0)]).toMatchObject([[], { state: 'UNASSIGNED', trace }])
    isUnavailable = false
    await clock.advance(60_000)
    expect(tasks).toHaveLength(1)
  })
})
