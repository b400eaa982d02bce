import type { Broker } from '../../broker/broker.ts'
import { BrokerError } from '../../broker/broker-error.ts'
import { messageOf } from '../../common/errors.ts'
import type { DoctorFinding } from './doctor-finding.ts'

/** A topic in which a program keeps its state, and the setting that names it. */
export type CheckedTopic = { readonly program: 'registry' | 'worker'; readonly setting: string; readonly name: string }

const RIGHTS_REMEDY = 'grant the rights of docs/acls.md, which lists all that each program needs'

/** Whether the topics of the programs exist, may be read, and are compacted. */
export async function checkStateTopics(
  broker: Broker,
  topics: readonly CheckedTopic[],
): Promise<readonly DoctorFinding[]> {
  return Promise.all(topics.map((topic) => checkStateTopic(broker, topic)))
}

async function checkStateTopic(broker: Broker, { program, setting, name }: CheckedTopic): Promise<DoctorFinding> {
  const check = `topic ${name} of the ${program}`
  try {
    if ((await broker.topics.describe(name)) === undefined)
      return {
        check,
        verdict: 'ok',
        message: `does not exist: the ${program} creates it, or has another name in ${setting}`,
      }
    await broker.topics.offsets(name, 'latest')
    const policy = (await broker.topics.configs(name))['cleanup.policy']
    if (policy === 'compact') return { check, verdict: 'ok', message: 'exists, may be read, and is compacted' }
    return {
      check,
      verdict: 'problem',
      message: `has cleanup.policy ${policy}: Kafka deletes the state of the ${program} after the retention time`,
      remedy: 'set cleanup.policy=compact on the topic',
    }
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    const remedy = error.code === 'not_authorized' ? RIGHTS_REMEDY : 'check the brokers'
    return { check, verdict: 'problem', message: messageOf(error), remedy }
  }
}
