import { expect } from 'vitest'
import type { Broker } from '../../src/broker/broker.ts'
import { silentLogger } from '../../src/config/logger.ts'
import type { Subject } from '../../src/registry/model/subject.ts'
import { registrySettings } from '../../src/registry/settings.ts'
import { openRegistryLog } from '../../src/registry/store/log.ts'
import { RegistryState } from '../../src/registry/store/state.ts'

/** What the right to write has to be on every log: one's own, and current when it is taken. */
export async function describePen(broker: Broker, topic: string): Promise<void> {
  const pairs = { 'brokerstore.topic': topic, 'brokerstore.topic.replication.factor': '1' }
  const settings = registrySettings(
    Object.entries(pairs).map(([key, value]) => ({ key, value, source: 'test' })),
  ).values
  const open = async () => {
    const state = new RegistryState()
    return { state, log: await openRegistryLog(state, { broker, settings, logger: silentLogger(), topicConfigs: {} }) }
  }
  const [older, newer] = [await open(), await open()]
  const mode = (subject: string) => ({ kind: 'mode', subject: subject as Subject, value: 'READONLY' }) as const
  const first = await older.log.openPen()
  await first.append([mode('a'), mode('b')])
  expect(older.state.mode('b' as Subject)).toBe('READONLY')
  const second = await newer.log.openPen()
  expect(newer.state.mode('b' as Subject)).toBe('READONLY')
  await expect(first.append([mode('c')])).rejects.toMatchObject({ code: 'fenced' })
  // Nor later: a pen that failed stays dry.
  await expect(first.append([mode('c')])).rejects.toMatchObject({ code: 'fenced' })
  await second.append([mode('d')])
  await older.log.refresh()
  expect([older.state.mode('c' as Subject), older.state.mode('d' as Subject)]).toEqual([undefined, 'READONLY'])
  for (const pen of [first, second]) await pen.close()
  for (const { log } of [older, newer]) await log.close()
}
