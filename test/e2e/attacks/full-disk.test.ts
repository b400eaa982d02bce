import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { createRegistryClient } from '../../../src/clients/registry-client.ts'
import { freePort } from '../../env/ports.ts'
import { type Output, run, type Server, startServer, untilReady } from '../../env/process.ts'
import { itOn, real } from '../../env/real.ts'
import { responds, weirCommand } from '../../support/cli.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { until } from '../../support/until.ts'

const sandboxes = await real('sandbox')

const SCHEMAS = 60
/** Large enough that the database has to grow when the write-ahead log is moved into it. */
const schemaOf = (index: number) =>
  JSON.stringify({ type: 'record', name: `R${index}`, doc: 'x'.repeat(30_000), fields: [] })

/** A file system of 16 MB at `directory`, for processes that are started in it only. */
async function startSmallDisk(directory: string) {
  // A network of its own is not wanted: the registry is asked from here.
  const namespaces = sandboxes.address.namespaces.filter((namespace) => namespace !== '--net')
  const script = 'mount -t tmpfs -o size=16m none "$0" && mkdir "$0/data" && exec sleep infinity'
  const holder = startServer(
    { file: 'unshare', args: [...namespaces, 'sh', '-ec', script, directory], directory: '/' },
    join(directory, 'holder.log'),
  )
  onTestFinished(() => holder.kill())
  const entering = sandboxes.address.isPrivileged ? [] : ['--user', '--preserve-credentials']
  const inside = (file: string, args: readonly string[]) => ({
    file: 'nsenter',
    args: ['--target', String(holder.pid), ...entering, '--mount', file, ...args],
    directory: '/',
  })
  const shell = (command: string): Promise<Output> => run(inside('sh', ['-c', command]))
  await until(
    'the small disk',
    { everyMs: 25, timeoutMs: 120_000 },
    async () => (await shell(`test -d ${directory}/data`)).code === 0,
  )
  return { inside, shell }
}

itOn(
  [sandboxes],
  'a registry on a full disk serves reads, also after a restart, and writes when space is available',
  async () => {
    const directory = temporaryDirectory()
    const disk = await startSmallDisk(directory)
    const url = `http://127.0.0.1:${await freePort()}`
    const registry = createRegistryClient({ url })
    const start = async (): Promise<Server> => {
      const log = join(temporaryDirectory(), 'output.log')
      const args = ['registry', '--data', join(directory, 'data'), '--set', `listeners=${url}`]
      const command = weirCommand('/', [...args, '--set', 'brokerstore.timeout.ms=1000'])
      const server = startServer(disk.inside(command.file, command.args), log)
      onTestFinished(() => server.kill())
      const what = { what: 'the registry', logFiles: [log], timeoutMs: 60_000 }
      await untilReady(server, what, () => responds(`${url}/subjects`))
      return server
    }
    const fill = () => disk.shell(`cat /dev/zero > ${directory}/filler-$$; cat /dev/zero > ${directory}/filler; true`)
    const checkReads = async () => {
      expect(await registry.subjects()).toHaveLength(SCHEMAS)
      expect((await registry.latest(`s${SCHEMAS - 1}`))?.schema).toBe(schemaOf(SCHEMAS - 1))
    }

    const first = await start()
    await until('a leader', { everyMs: 50, timeoutMs: 120_000 }, () => responds(`${url}/readyz`))
    for (let index = 0; index < SCHEMAS; index++) await registry.register(`s${index}`, { schema: schemaOf(index) })
    await fill()
    await expect(registry.register('refused', { schema: schemaOf(1_000) })).rejects.toThrow()
    await checkReads()
    await first.kill()

    await fill()
    const second = await start()
    await checkReads()
    await fill()
    await expect(registry.register('refused', { schema: schemaOf(1_001) })).rejects.toThrow()
    await checkReads()
    await disk.shell(`rm ${directory}/filler*`)
    await until('space', { everyMs: 200, timeoutMs: 120_000 }, () =>
      registry.register('later', { schema: schemaOf(1_002) }).then(
        () => true,
        () => false,
      ),
    )
    await second.end(10_000)

    const third = await start()
    expect((await registry.latest('later'))?.schema).toBe(schemaOf(1_002))
    expect(await registry.subjects()).toHaveLength(SCHEMAS + 1)
    await third.end(10_000)
  },
)
