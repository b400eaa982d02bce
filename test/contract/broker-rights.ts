import { expect, it } from 'vitest'
import type { AccessRight, KafkaOperation } from '../../src/broker/broker-error.ts'
import type { OpenBroker } from './broker.ts'
import { newTopic, opened } from './broker-support.ts'

export function describeRights(open: OpenBroker): void {
  it('grants every right where nobody is restricted', async () => {
    const broker = await opened(open)
    const topic = await newTopic(broker)
    const on = (operation: KafkaOperation, resourceType: AccessRight['resourceType'], resourceName?: string) =>
      ({ operation, resourceType, resourceName }) as const
    const rights = [
      ...(['READ', 'WRITE', 'DESCRIBE_CONFIGS', 'CREATE'] as const).map((operation) => on(operation, 'topic', topic)),
      on('READ', 'topic', `${topic}-missing`),
      on('READ', 'group', `${topic}-group`),
      on('DESCRIBE', 'cluster'),
    ]
    expect(await broker.checkRights(rights)).toEqual(rights.map(() => 'granted'))
    expect(await broker.checkRights([])).toEqual([])
  })
}
