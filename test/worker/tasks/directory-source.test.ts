import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { directorySource } from '../../../src/plugins/connectors/directory/directory-source.ts'
import { DEAD_LETTERS, startTask } from '../../support/task.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { openTestBroker, readRecords } from '../../support/topic.ts'

describe('a task of DirectorySource', () => {
  it('writes valid rows to the topic and malformed rows to the dead-letter topic, and then moves the file', async () => {
    const broker = await openTestBroker('rows')
    const directory = inbox('{"n":1}\n{"n":\n{"n":2}\n{')
    const task = startTask(broker, directorySource, { ...config(directory), ...DEAD_LETTERS, ...CONTEXT })
    await expect.poll(() => readdirSync(directory)).toEqual(['a.ndjson.done'])
    await task.stop()
    expect((await readRecords(broker, 'rows')).map(({ value }) => String(value))).toEqual(['{n=1}', '{n=2}'])
    const letters = await readRecords(broker, 'dead')
    expect(letters.map(({ value }) => JSON.parse(String(value)))).toEqual(['{"n":', '{'])
    expect(Object.fromEntries(letters[0]!.headers.map(([name, text]) => [name, String(text)]))).toMatchObject({
      '__connect.errors.stage': 'TASK_POLL',
      '__connect.errors.class.name': 'DirectorySource',
      '__connect.errors.exception.message': expect.stringMatching(
        /a\.ndjson' up to byte 14: the line is not valid JSON/,
      ),
    })
  })

  it('fails at the first malformed row when errors.tolerance is none, and leaves the file in place', async () => {
    const broker = await openTestBroker('rows')
    const directory = inbox('{"n":1}\nnothing\n')
    const task = startTask(broker, directorySource, config(directory))
    await expect.poll(() => task.said.at(-1)?.type).toBe('failed')
    expect(task.said.at(-1)).toMatchObject({
      trace: expect.stringMatching(/a\.ndjson' up to byte 16: the line is not valid JSON/),
    })
    expect(readdirSync(directory)).toEqual(['a.ndjson'])
  })
})

const CONTEXT = { 'errors.deadletterqueue.context.headers.enable': 'true' }

function inbox(text: string): string {
  const directory = temporaryDirectory()
  writeFileSync(join(directory, 'a.ndjson'), text)
  utimesSync(join(directory, 'a.ndjson'), 1_700_000_000, 1_700_000_000)
  return directory
}

function config(directory: string) {
  return { topic: 'rows', 'input.path': directory, 'poll.interval.ms': '5' }
}
