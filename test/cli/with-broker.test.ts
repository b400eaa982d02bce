import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { openBroker } from '../../src/broker/open-broker.ts'
import { UsageError } from '../../src/cli/command.ts'
import { dlqCommand } from '../../src/cli/commands/dlq.ts'
import { topicCommand } from '../../src/cli/commands/topic.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const COMMANDS = [
  ['dlq show', (data: string) => dlqCommand.run(['show', 'dead', '--data', data])],
  ['dlq replay', (data: string) => dlqCommand.run(['replay', 'dead', '--data', data])],
  ['topic backup', (data: string) => topicCommand.run(['backup', 'dead', '--to', `${data}.jsonl`, '--data', data])],
] as const

describe.each(COMMANDS)('weir %s', (_, run) => {
  it('creates no data in a directory that has none', async () => {
    const directory = temporaryDirectory()
    const missing = join(directory, 'missing')
    for (const data of [directory, missing]) {
      await expect(run(data)).rejects.toThrow(
        new UsageError(`--data ${data}: this is not a data directory: it contains no data`),
      )
    }
    expect(readdirSync(directory)).toEqual([])
    expect(existsSync(missing)).toBe(false)
  })

  it('is undecided while another process uses the data', async () => {
    const directory = join(temporaryDirectory(), 'data')
    const broker = await openBroker({ kind: 'embedded', directory }, { logger: silentLogger() })
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    try {
      expect(await run(directory)).toBe(3)
      expect(written.mock.calls.join('')).toContain(`weir: data directory ${directory} is in use by process`)
    } finally {
      written.mockRestore()
      await broker.close()
    }
  })
})
