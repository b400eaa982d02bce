import { parentPort, workerData } from 'node:worker_threads'
import { openBroker } from '../../broker/open-broker.ts'
import { messageOf } from '../../common/errors.ts'
import { silentLogger } from '../../common/logging/logger.ts'
import type { DeadLetterThreadData, DeadLetterThreadResult } from './dead-letter-reader.ts'
import { readDeadLetters, scanDeadLetters } from './dead-letter-scan.ts'

// Entry point of the thread that reads dead letters for one request. `dead-letter-reader.ts` starts and ends it.

const { address, request } = workerData as DeadLetterThreadData

async function execute(): Promise<DeadLetterThreadResult> {
  try {
    const broker = await openBroker(address, { logger: silentLogger() })
    if (request.do === 'scan') return { done: 'scan', result: await scanDeadLetters(broker, request) }
    return { done: 'read', result: await readDeadLetters(broker, request.topic, request.positions) }
  } catch (error) {
    return { done: 'failed', message: messageOf(error) }
  }
}

parentPort?.postMessage(await execute())
