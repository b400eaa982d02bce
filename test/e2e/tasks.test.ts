import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { type Output, run, startServer } from '../env/process.ts'
import { partDirectory } from '../env/workspace.ts'
import { weirScript } from '../support/cli.ts'
import { startTaskEstate } from '../support/task-estate.ts'
import { taskRows } from '../support/tasks-page.ts'
import { until } from '../support/until.ts'

const TIMEOUT_MS = 400_000
const WAIT = { everyMs: 100, timeoutMs: 120_000 }

type Estate = Awaited<ReturnType<typeof startTaskEstate>>
type Expected = {
  /** Exit codes that answer the task; 0 if absent. */
  readonly codes?: readonly number[]
  readonly output?: RegExp
  /** What the commands have changed. */
  readonly isDone?: (estate: Estate) => Promise<boolean> | boolean
}

/** By the number of the task. */
const EXPECTED: Readonly<Record<number, Expected>> = {
  1: { output: /^payments-archive +FAILED .*payments, partition 0, offset 2/m },
  2: { output: /^connector\/payments-archive restarted$/m },
  3: { codes: [1], output: /Subject\/default\/customers-value: [\s\S]*version 2: .*\bname\b/ },
  4: { output: /^orders-http +orders +0 +\S+ +200 +[1-9]\d*$/m },
  5: { output: /"orderid"/ },
  6: { isDone: async ({ stateOf }) => (await stateOf('payments-archive')) === 'RUNNING' },
  7: { output: /^replayed: 1/m },
  8: { codes: [1], output: /\+ .*"name": "note"[\s\S]*compatible at level BACKWARD/ },
  9: { output: /^ *Used by connectors: +orders, orders-file, orders-http$/m },
  10: { isDone: async ({ registry }) => (await registry.config('orders-value')).compatibility === 'FULL' },
  11: { isDone: async ({ stateOf }) => (await stateOf('new')) === 'RUNNING' },
  12: { codes: [1, 3], output: /change connector stock: topic: "changed" → "stock"/ },
  13: { output: /^(?:connector\/test-\d\d paused\n){20}$/ },
  14: { isDone: async ({ worker }) => (await worker.get('prices')).config['topic'] === 'prices' },
  15: { output: /./ },
  16: { output: /^ *You may: +read, write, lifecycle, delete, offsets/m },
  17: { output: /"orderid":42\b/ },
  18: { output: /^connector\/test-01 deleted$/m },
  19: { output: /^connector\/orders-file: / },
  20: { output: /FileStreamSink/ },
}

it('every command of docs/tasks.md does its task, in a running weir up', { timeout: TIMEOUT_MS }, async () => {
  const estate = await startTaskEstate()
  const { up, directory } = estate
  const tools = partDirectory('commands')
  writeFileSync(join(tools, 'weir'), weirScript(), { mode: 0o755 })
  const commandOf = (text: string) => {
    const own = text
      .replaceAll('http://127.0.0.1:8081', up.registryUrl)
      .replaceAll('http://127.0.0.1:8083', up.workerUrl)
    const env = { PATH: `${tools}:${dirname(process.execPath)}:${process.env['PATH']}` }
    return { file: 'bash', args: ['-ec', `exec ${own}`], directory, env }
  }
  for (const { number, title, commands } of taskRows()) {
    const { codes = [0], output = /(?:)/, isDone } = EXPECTED[number]!
    for (const command of commands) {
      const what = `${number}, ${title}: ${command}`
      const { code, stdout, stderr } = / -f$/.test(command)
        ? await follow(commandOf(command))
        : await run(commandOf(command))
      expect(codes, `${what}\n${stdout}\n${stderr}`).toContain(code)
      expect(`${stdout}${stderr}`, what).toMatch(output)
    }
    if (isDone) await until(title, WAIT, () => isDone(estate))
  }
})

/** Runs a command until its first line, and ends it as Ctrl-C does. */
async function follow(command: Parameters<typeof startServer>[0]): Promise<Output> {
  const file = join(partDirectory('follow'), 'output')
  const server = startServer(command, file)
  const text = () => readFileSync(file, 'utf8')
  try {
    await until('the first line', WAIT, () => text().includes('\n'))
    return { code: await server.end(WAIT.timeoutMs, 'SIGINT'), stdout: text(), stderr: '' }
  } finally {
    await server.kill()
  }
}
