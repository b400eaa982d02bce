import { EventEmitter } from 'node:events'
import type { ConfigRecord } from '../stores/config-codec.ts'
import type { StatusChange } from '../stores/status-store.ts'

/**
 * What happens in a worker. The emitter is created before the parts that emit and those that listen, so that neither needs the
 * other to exist. A listener that is added later misses earlier events: config records before it are in the config state.
 */
export class WorkerEvents extends EventEmitter<{
  /** A record of the config topic was read and applied to the config state. */
  configRecord: [ConfigRecord]
  /** A status of a connector or a task was read and applied to the status state. */
  status: [StatusChange]
  /** A task lost its process through no fault of its own and waits for `WorkRunner.restartInterrupted`. */
  taskInterrupted: []
}> {}
