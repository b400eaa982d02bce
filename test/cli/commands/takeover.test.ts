import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { takeoverCommand } from '../../../src/cli/commands/takeover.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

it.each([
  [['status'], 'expected weir takeover status or plan, and worker or registry'],
  [['status', 'worker', 'more'], "'more' is unexpected: expected weir takeover status or plan, and worker or registry"],
  [['plan', 'registry', '--worker', 'http://w:8083'], '--worker applies to workers only'],
  [['status', 'worker', '--user', 'ada:secret'], '--user applies to the worker that --worker URL names'],
  [['status', 'worker', '--worker', 'w:8083'], '--worker w:8083: expected http://HOST:PORT or https://HOST:PORT'],
  [['status', 'worker', '--output', 'yaml'], '--output yaml: expected text or json'],
])('rejects %j', async (args, reason) => {
  const broker = ['--bootstrap', '127.0.0.1:1', '--set', 'group.id=c1', '--set', 'offset.storage.topic=o']
  const topics = ['--set', 'config.storage.topic=c', '--set', 'status.storage.topic=s']
  await expect(takeoverCommand.run([...args, ...broker, ...topics])).rejects.toThrow(reason)
})

it.each([
  ['worker', ''],
  ['registry', 'kafkastore.'],
])('logs in to Kafka with the settings of the %s', async (program, prefix) => {
  const file = join(temporaryDirectory(), 'settings.properties')
  const names = ['config', 'offset', 'status'].map((topic) => `${topic}.storage.topic=${topic}`)
  const worker = program === 'worker' ? ['group.id=c1', ...names] : []
  const login = [`${prefix}security.protocol=SASL_SSL`, `${prefix}sasl.mechanism=nonsense`]
  writeFileSync(file, [...worker, ...login, `${prefix}bootstrap.servers=127.0.0.1:1`].join('\n'))
  const run = takeoverCommand.run(['status', program, '--config', file])
  await expect(run).rejects.toThrow('sasl.mechanism=nonsense: expected one of')
})
