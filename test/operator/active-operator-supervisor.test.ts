import { beforeEach, describe, expect, it } from 'vitest'
import type { ActiveOperator } from '../../src/operator/active-operator.ts'
import { ActiveOperatorSupervisor } from '../../src/operator/active-operator-supervisor.ts'
import { UNFENCED } from '../../src/operator/controller/leader-fence.ts'
import { type RuntimesConfig, runtimesConfigFor } from '../../src/operator/runtimes.ts'

const FIRST = runtimesConfigFor({ workerUrl: 'http://first' })
const SECOND = runtimesConfigFor({ workerUrl: 'http://second' })
const THIRD = runtimesConfigFor({ workerUrl: 'http://third' })

/** What happened, in order: `start URL`, `stop URL`, `enqueue KEY`. */
let log: string[]
/** Ends the stops of active operators; undefined: they end at once. */
let finishStop: (() => void) | undefined
let holdsStops: boolean
let supervisor: ActiveOperatorSupervisor

function startFakeOperator(runtimesConfig: RuntimesConfig): ActiveOperator {
  const [worker] = runtimesConfig.workers
  const url = worker !== undefined && 'endpoint' in worker ? worker.endpoint.url : 'none'
  log.push(`start ${url}`)
  return {
    enqueue: (key) => log.push(`enqueue ${key}`),
    queue: () => ({ waiting: 1, workingMs: [] }),
    pollLags: () => [{ cluster: url, runtime: 'worker', lagMs: 0 }],
    async stop() {
      if (holdsStops) await new Promise<void>((resolve) => (finishStop = resolve))
      log.push(`stop ${url}`)
    },
  }
}

beforeEach(() => {
  log = []
  finishStop = undefined
  holdsStops = false
  supervisor = new ActiveOperatorSupervisor(FIRST, startFakeOperator)
})

const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('ActiveOperatorSupervisor', () => {
  it('runs the operator from the start to the stop of the leadership', async () => {
    expect(supervisor.isActive).toBe(false)
    const leadership = supervisor.start(UNFENCED)
    expect(supervisor.isActive).toBe(true)
    await leadership.stop()
    expect(supervisor.isActive).toBe(false)
    expect(log).toEqual(['start http://first', 'stop http://first'])
  })

  it('enqueues resources and reports its state only while it leads', async () => {
    supervisor.enqueue(['Connector/default/a'], 'user')
    expect([supervisor.queue('Connector'), supervisor.pollLags()]).toEqual([undefined, []])
    const leadership = supervisor.start(UNFENCED)
    supervisor.enqueue(['Connector/default/b', 'Connector/default/c'], 'user')
    expect(supervisor.queue('Connector')).toEqual({ waiting: 1, workingMs: [] })
    expect(supervisor.pollLags()).toEqual([{ cluster: 'http://first', runtime: 'worker', lagMs: 0 }])
    await leadership.stop()
    expect(log.slice(1, 3)).toEqual(['enqueue Connector/default/b', 'enqueue Connector/default/c'])
    expect([supervisor.queue('Connector'), supervisor.pollLags()]).toEqual([undefined, []])
  })

  it('restarts the operator with a changed configuration after the previous one has stopped', async () => {
    holdsStops = true
    const leadership = supervisor.start(UNFENCED)
    supervisor.reconfigure(SECOND)
    await settled()
    expect(log).toEqual(['start http://first'])
    finishStop?.()
    await settled()
    expect(log).toEqual(['start http://first', 'stop http://first', 'start http://second'])
    holdsStops = false
    await leadership.stop()
    expect(log.at(-1)).toBe('stop http://second')
  })

  it('applies several changes of the configuration one after the other', async () => {
    const leadership = supervisor.start(UNFENCED)
    supervisor.reconfigure(SECOND)
    supervisor.reconfigure(THIRD)
    await settled()
    await leadership.stop()
    expect(log.filter((line) => line.startsWith('start')).at(-1)).toBe('start http://third')
    expect(log.filter((line) => line.startsWith('start'))).toHaveLength(log.filter((l) => l.startsWith('stop')).length)
  })

  it('starts nothing when the configuration changes while it does not lead, and uses it for the next leadership', async () => {
    supervisor.reconfigure(SECOND)
    await settled()
    expect(log).toEqual([])
    await supervisor.start(UNFENCED).stop()
    expect(log).toEqual(['start http://second', 'stop http://second'])
  })

  it('does not restart the operator when the leadership ends during a change of the configuration', async () => {
    holdsStops = true
    const leadership = supervisor.start(UNFENCED)
    supervisor.reconfigure(SECOND)
    await settled()
    const stopping = leadership.stop()
    holdsStops = false
    finishStop?.()
    await stopping
    expect(log.filter((line) => line.startsWith('start'))).toEqual(['start http://first'])
    expect(supervisor.isActive).toBe(false)
  })
})
