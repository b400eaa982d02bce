import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import type { RawConfig } from '../../src/sdk/index.ts'
import { startServer } from '../env/process.ts'
import { partDirectory } from '../env/workspace.ts'
import { isGone, taskProcessesOf } from '../support/process-tree.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'
import { startWorkerProcess, type WeirWorker } from '../support/worker-process.ts'

const WAIT = { everyMs: 200, timeoutMs: 120_000 }
const BUSY_PROCESSES = 12
/** Much shorter than the default of 10 s, and than what a process among twelve others waits. */
const BLOCKED_MS = 1_000
const SPINNER = `
import { defineSource, z } from 'weir/sdk'

export default defineSource({
  class: 'Spinner',
  version: '1.0.0',
  summary: 'Spins.',
  config: z.object({}),
  async *poll() {
    spinForEver()
  },
})

function spinForEver() {
  for (;;) {}
}
`

it('a worker whose processor twelve other processes keep busy starts twelve connectors, and fails only what loops', async () => {
  const directory = temporaryDirectory()
  const { worker, client } = await startWorker(directory)
  const file = join(directory, 'lines.txt')
  writeFileSync(file, 'one\ntwo\n')
  writeFileSync(join(directory, 'values.properties'), 'topic=lines-a\n')
  const configs: Readonly<Record<string, RawConfig>> = Object.fromEntries(
    ['a', 'b', 'c', 'd'].flatMap((name) => {
      const topic = name === 'a' ? `\${file:${join(directory, 'values.properties')}:topic}` : `lines-${name}`
      const sink = { file: join(directory, `sink-${name}`), topics: `lines-${name}` }
      return [
        [`datagen-${name}`, { 'connector.class': 'Datagen', 'kafka.topic': `datagen-${name}`, rate: '10' }],
        [`source-${name}`, { 'connector.class': 'FileStreamSource', file, topic }],
        [`sink-${name}`, { 'connector.class': 'FileStreamSink', ...sink }],
      ]
    }),
  )
  const states = async () => {
    const statuses = await Promise.all(Object.keys(configs).map((name) => client.status(name).catch(() => undefined)))
    return statuses.map((status) => status?.tasks[0]?.state)
  }
  const endLoad = startLoad(worker)
  await Promise.all(Object.entries(configs).map(([name, config]) => client.create(name, config)))
  const isDecided = (state?: string) => state === 'RUNNING' || state === 'FAILED'
  await until('each task to run or to fail', WAIT, async () => (await states()).every(isDecided))
  await until('a sink to write', WAIT, () => textOf(join(directory, 'sink-a')).includes('two'))
  await endLoad()
  expect(await states()).toEqual(Object.keys(configs).map(() => 'RUNNING'))
  expect(textOf(worker.logFile)).not.toMatch(/blocked|interrupted|unresponsive|did not|"level":50/)

  await client.create('spinner', { 'connector.class': 'Spinner' })
  const task = async () => (await client.status('spinner').catch(() => undefined))?.tasks[0]
  await until('it to fail', WAIT, async () => (await task())?.state === 'FAILED')
  expect((await task())?.trace).toMatch(
    /^task spinner-0 blocked its thread for more than 1000 ms.*\n +at spinForEver .*spinner\.ts/,
  )
  expect(await states()).toEqual(Object.keys(configs).map(() => 'RUNNING'))
})

it('a worker that was not run for so long that its task processes ended restarts their tasks, and fails none', async () => {
  const { worker, client } = await startWorker(temporaryDirectory())
  await client.create('datagen', { 'connector.class': 'Datagen', 'kafka.topic': 'datagen', rate: '1' })
  const task = async () => (await client.status('datagen').catch(() => undefined))?.tasks[0]
  await until('it to run', WAIT, async () => (await task())?.state === 'RUNNING')
  const [taskProcess] = taskProcessesOf(worker.pid!)
  process.kill(worker.pid!, 'SIGSTOP')
  await until('its process to end', WAIT, () => isGone(taskProcess!))
  process.kill(worker.pid!, 'SIGCONT')
  await until('another process', WAIT, () => taskProcessesOf(worker.pid!).some((pid) => pid !== taskProcess))
  await until('it to run', WAIT, async () => (await task())?.state === 'RUNNING')
  expect(textOf(worker.logFile)).not.toContain('the task failed')
  expect((await task())?.trace).toBeUndefined()
})

async function startWorker(directory: string) {
  writeFileSync(join(directory, 'spinner.ts'), SPINNER)
  const worker = await startWorkerProcess({
    log: ['--data', join(directory, 'data')],
    groupId: 'busy',
    settings: {
      'plugin.path': join(directory, 'spinner.ts'),
      'worker.thread.blocked.max.ms': String(BLOCKED_MS),
      'config.providers': 'file',
      'config.providers.file.class': 'FileConfigProvider',
    },
  })
  onTestFinished(() => worker.kill())
  return { worker, client: createWorkerClient({ url: worker.url, timeoutMs: 90_000 }) }
}

/**
 * Confines a worker, and twelve processes that do nothing but compute, to one processor. The worker has as little time as beside 24
 * such processes on two, and the other one is left to other tests. Returns a function that ends the load.
 */
function startLoad({ pid }: WeirWorker): () => Promise<unknown> {
  const [, processor = '0'] = /^Cpus_allowed_list:\s+(\d+)/m.exec(textOf('/proc/self/status')) ?? []
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', processor, String(pid)], { stdio: 'ignore' })
  const own = partDirectory('load')
  const loop = { file: 'taskset', args: ['--cpu-list', processor, 'sh', '-c', 'while :; do :; done'], directory: own }
  const busy = Array.from({ length: BUSY_PROCESSES }, () => startServer(loop, join(own, 'output.log')))
  const end = () => Promise.all(busy.map((one) => one.kill()))
  onTestFinished(() => void end())
  return end
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
