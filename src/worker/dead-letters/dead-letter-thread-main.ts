import { parentPort, workerData } from 'node:worker_threads'
import type { Broker } from '../../broker/broker.ts'
import type { BrokerAddress } from '../../broker/broker-address.ts'
import { openBroker } from '../../broker/open-broker.ts'
import { messageOf } from '../../common/errors.ts'
import { silentLogger } from '../../common/logging/logger.ts'
import type { DeadLetterThreadRequest, DeadLetterThreadResult } from './dead-letter-reader.ts'
import { readDeadLetters, scanDeadLetters } from './dead-letter-scan.ts'

// Entry point of a thread that reads dead letters. `dead-letter-reader.ts` starts and ends it.

let opened: Promise<Broker> | undefined

async function execute(request: DeadLetterThreadRequest): Promise<DeadLetterThreadResult> {
  try {
    opened ??= openBroker(workerData as BrokerAddress, { logger: silentLogger() })
    const broker = await opened
    if (request.do === 'scan') return { done: 'scan', result: await scanDeadLetters(broker, request) }
    return { done: 'read', result: await readDeadLetters(broker, request.topic, request.positions) }
  } catch (error) {
    return { done: 'failed', message: messageOf(error) }
  }
}

parentPort?.on('message', async (request: DeadLetterThreadRequest) => parentPort?.postMessage(await execute(request)))
