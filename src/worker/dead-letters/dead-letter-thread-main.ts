import { serveBrokerThread } from '../isolation/broker-threads.ts'
import type { DeadLetterThreadRequest, DeadLetterThreadResult } from './dead-letter-reader.ts'
import { readDeadLetters, scanDeadLetters } from './dead-letter-scan.ts'

// Entry point of a thread that reads dead letters. `dead-letter-reader.ts` starts and ends it.

serveBrokerThread(async (broker, request: DeadLetterThreadRequest): Promise<DeadLetterThreadResult> => {
  if (request.do === 'scan') return { done: 'scan', result: await scanDeadLetters(broker, request) }
  return { done: 'read', result: await readDeadLetters(broker, request.topic, request.positions) }
})
