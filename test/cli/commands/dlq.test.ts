import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { openBroker } from '../../../src/broker/open-broker.ts'
import { dlqCommand } from '../../../src/cli/commands/dlq.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

it('shows control characters of an error, which a record may contain, as their codes', async () => {
  const directory = join(temporaryDirectory(), 'data')
  const broker = await openBroker({ kind: 'embedded', directory }, { logger: silentLogger() })
  await broker.topics.create({ name: 'dead', partitions: 1, configs: {} })
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
