import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { openBroker } from '../../../src/broker/open-broker.ts'
import { dlqCommand } from '../../../src/cli/commands/dlq.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

it('shows control characters of an error, which a record may contain, as their codes', async () => {
  const directory = join(temporaryDirectory(), 'data')
  const broker = await openBroker({ kind: 'embedded', directory }, { logger: silentLogger() })
  await broker.topics.create({ name: 'dead', partitions: 1, configs: { 'retention.ms': '-1' } })
  const producer = await broker.producer()
  const error = Buffer.from('bad value \u001b]0;owned\u0007\nin field a')
  const headers = [['__connect.errors.exception.message', error]] as const
  await producer.send([{ topic: 'dead', partition: 0, timestampMs: 0, key: null, value: Buffer.from('{}'), headers }])
  await producer.close()
  await broker.close()
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    expect(await dlqCommand.run(['show', 'dead', '--data', directory])).toBe(0)
    expect(written.mock.calls.join('')).toContain('bad value \\u001b]0;owned\\u0007\nin field a')
  } finally {
    written.mockRestore()
  }
})

it('replays nothing to topics of programs that a header names, under their configured names, unless --to names them', async () => {
  const directory = join(temporaryDirectory(), 'data')
  const open = () => openBroker({ kind: 'embedded', directory }, { logger: silentLogger() })
  const broker = await open()
  const topics = ['connect-configs', 'team-configs', '_schemas', 'orders']
  for (const name of ['dead', ...topics]) await broker.topics.create({ name, configs: { 'retention.ms': '-1' } })
  const producer = await broker.producer()
  const forged = topics.map((topic) => ({
    topic: 'dead',
    key: null,
    value: Buffer.from('{}'),
    headers: [['__connect.errors.topic', Buffer.from(topic)]] as const,
  }))
  await producer.send(forged)
  await producer.close()
  await broker.close()
  const said = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write').mockReturnValue(true))
  const replay = (...more: readonly string[]) =>
    dlqCommand.run(['replay', 'dead', '--data', directory, '--set', 'config.storage.topic=team-configs', ...more])
  try {
    expect(await replay()).toBe(1)
    expect(said.map(({ mock }) => mock.calls.join('')).join('')).toContain(
      "its topic is 'team-configs', which a program uses for itself: choose another topic with --to",
    )
    expect(await endsOf(topics)).toEqual([0, 0, 0, 1])
    expect(await replay('--to', '_schemas', '--from-beginning')).toBe(0)
    expect(await endsOf(topics)).toEqual([0, 0, 4, 1])
  } finally {
    for (const spy of said) spy.mockRestore()
  }

  async function endsOf(names: readonly string[]): Promise<readonly number[]> {
    const again = await open()
    const ends = await Promise.all(names.map((name) => again.topics.offsets(name, 'latest')))
    await again.close()
    return ends.map(([end]) => end!.offset)
  }
})
