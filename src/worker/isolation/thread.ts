import { isDeepStrictEqual } from 'node:util'
import { parentPort, workerData } from 'node:worker_threads'
import type { Broker } from '../../broker/broker.ts'
import { BrokerError } from '../../broker/error.ts'
import { openBroker } from '../../broker/open.ts'
import { systemClock } from '../../config/clock.ts'
import { createLogger } from '../../config/logger.ts'
import { retry } from '../../config/retry.ts'
import { loadModules } from '../../plugins/load.ts'
import type { RawConfig } from '../stores/config-codec.ts'
import { countersIn } from '../tasks/task-counters.ts'
import type { FromThread, ThreadData, ToThread } from './messages.ts'
import { type LocalTask, TaskRunner } from './task-runner.ts'

// The thread that tasks run in: begins here, and does what it is told by the thread that started it.

/** How often a thread that is well counts. */
const BEAT_MS = 100
const OPEN = { backoff: { firstMs: 250, maxMs: 5_000 }, withinMs: 600_000, retriable: isPassing }

const data = workerData as ThreadData
const tell = (message: FromThread) => parentPort?.postMessage(message)
const beat = new Int32Array(data.beat)

// What of it is wanted, the other side knows: it can change at any time.
const logger = createLogger({ level: 'debug', write: (line) => tell({ type: 'log', line }) })
const plugins = await loadModules(data.plugins)
const broker = await retry(() => openBroker(data.address, { logger }), OPEN)
const runner = new TaskRunner({ broker, connect, plugins, logger, clock: systemClock })
const tasks = new Map<number, LocalTask>()

// A rejection that nobody handles arrives here too.
process.on('uncaughtException', (error: unknown) => {
  if (!runner.threw(error)) logger.error({ err: error }, 'something was thrown that belongs to no task')
})
// Before the first task: it may be the one that keeps the thread from ever counting again.
Atomics.add(beat, 0, 1)
setInterval(() => Atomics.add(beat, 0, 1), BEAT_MS)
parentPort?.on('message', (message: ToThread) => void carryOut(message))

async function carryOut(message: ToThread): Promise<void> {
  const { slot } = message
  switch (message.do) {
    case 'start': {
      const { spec, counters } = message
      tasks.set(
        slot,
        runner.start(spec, countersIn(counters), (said) => tell({ type: 'said', slot, message: said })),
      )
      break
    }
    case 'set-paused':
      tasks.get(slot)?.setPaused(message.paused)
      break
    case 'stop':
      await tasks.get(slot)?.stop()
      tasks.delete(slot)
      tell({ type: 'stopped', slot })
  }
}

/** An embedded broker has one way in. */
async function connect(connection: RawConfig): Promise<Broker | undefined> {
  const { address } = data
  if (address.kind !== 'kafka') return undefined
  const config = { ...address.config, ...connection }
  return isDeepStrictEqual(config, address.config) ? undefined : openBroker({ kind: 'kafka', config }, { logger })
}

function isPassing(error: unknown): boolean {
  return error instanceof BrokerError && error.retriable
}
