import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { descendantsOf, isGone } from '../support/process-tree.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'
import { startWorkerProcess } from '../support/worker-process.ts'

const WAIT = { everyMs: 50, timeoutMs: 120_000 }

/** A source whose task loops, and one that loops in the process of plugins. */
const LOOPS = `
import { writeFileSync } from 'node:fs'
import { defineSource, z } from 'weir/sdk'

function spinForEver(file) {
  writeFileSync(file, String(process.pid))
  for (;;) {}
}

const common = { version: '1.0.0', summary: 'Loops.', config: z.object({ file: z.string() }) }
export default [
  defineSource({ ...common, class: 'TaskLoops', async *poll({ config }) { spinForEver(config.file) } }),
  defineSource({ ...common, class: 'TasksLoops', tasks: ({ file }) => spinForEver(file), async *poll() {} }),
]
`

it('processes whose plugin code loops end with a worker that is killed', async () => {
  const directory = temporaryDirectory()
  const plugins = join(directory, 'loops.ts')
  writeFileSync(plugins, LOOPS)
  const worker = await startWorkerProcess({
    log: ['--data', join(directory, 'data')],
    groupId: 'killed',
    settings: { 'plugin.path': plugins, 'worker.thread.blocked.max.ms': '3600000' },
  })
  onTestFinished(() => worker.kill())
  const client = createWorkerClient({ url: worker.url, timeoutMs: 60_000 })
  const file = (name: string) => join(directory, name)
  const pidIn = (name: string) => {
    try {
      return Number(readFileSync(file(name), 'utf8'))
    } catch {
      return 0
    }
  }
  // One after the other: a connector that loops in the process of plugins keeps the next from being asked for its tasks.
  for (const name of ['TaskLoops', 'TasksLoops']) {
    await client.create(name, { 'connector.class': name, file: file(name) })
    await until(`${name} to loop`, WAIT, () => pidIn(name) > 0)
  }
  const processes = descendantsOf(worker.pid!)
  expect(processes).toEqual(expect.arrayContaining([pidIn('TaskLoops'), pidIn('TasksLoops')]))
  await worker.kill()
  onTestFinished(() => {
    for (const pid of processes) if (!isGone(pid)) process.kill(pid, 'SIGKILL')
  })
  await until('all to end', WAIT, () => processes.every(isGone))
})
