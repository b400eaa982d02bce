import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../env/ports.ts'
import { type Program, responds, startWeir } from '../../support/cli.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { until } from '../../support/until.ts'

const HANG = join(import.meta.dirname, 'hang.ts')
/** Enough to stop in order on a busy machine. */
const GRACE_SECONDS = 30
const END_MS = 40_000
const WAIT = { everyMs: 50, timeoutMs: 120_000 }

describe.each(['registry', 'worker', 'up'] as const)('weir %s', (name) => {
  it('exits with code 0 on SIGTERM', async () => {
    const { program } = await start(name, temporaryDirectory())
    expect(await program.terminate(END_MS)).toBe(0)
  })

  it('exits with code 0 on SIGTERM while one of its threads is blocked in native code', async () => {
    const { program } = await start(name, temporaryDirectory())
    process.kill(program.pid!, 'SIGWINCH')
    await until('the thread to be blocked', WAIT, () => logOf(program).includes('hang: native code'))
    expect(await program.terminate(END_MS)).toBe(0)
    expect(logOf(program)).toContain('resources are still open')
  })
})

it('weir worker exits on SIGTERM during its start', async () => {
  // A broker that takes connections and never answers.
  let isAsked = false
  const broker = createServer(() => {
    isAsked = true
  })
  broker.listen(0, '127.0.0.1')
  await once(broker, 'listening')
  onTestFinished(() => void broker.close())
  const { port } = broker.address() as AddressInfo
  const args = ['worker', '--bootstrap', `127.0.0.1:${port}`, '--grace-period', '60'] as const
  const program = await startWeir(args, () => isAsked)
  onTestFinished(() => program.kill())
  expect(await program.terminate(END_MS)).toBe(143)
})

function logOf({ logFile }: Program): string {
  return readFileSync(logFile, 'utf8')
}

async function start(name: 'registry' | 'worker' | 'up', directory: string): Promise<{ readonly program: Program }> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const data = ['--data', join(directory, 'data'), '--grace-period', String(GRACE_SECONDS)]
  const args =
    name === 'up'
      ? ([
          'up',
          directory,
          '--registry-port',
          String(port),
          '--worker-port',
          '0',
          '--console-port',
          '0',
          ...data,
        ] as const)
      : ([name, '--set', `listeners=${url}`, ...data] as const)
  const program = await startWeir(args, () => responds(`${url}/`), { nodeArgs: ['--import', HANG] })
  onTestFinished(() => program.kill())
  await until('it to be up', WAIT, () => responds(`${url}/`))
  return { program }
}
