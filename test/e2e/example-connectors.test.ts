import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { freePort } from '../env/ports.ts'
import { startHttpServer } from '../support/http-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'
import { startUp } from '../support/up.ts'

const REPOSITORY = join(import.meta.dirname, '../..')
const WAIT = { everyMs: 50, timeoutMs: 120_000 }
const EXAMPLE = 'examples/connectors'

it('the example of the HTTP and file connectors sends parcels from CSV by HTTP to a file, and polls an API', {
  timeout: 300_000,
}, async () => {
  const directory = temporaryDirectory()
  const api = await startHttpServer(() => ({ status: 200, body: '[{"class":"A"},{"class":"B"}]' }))
  const webhook = `http://127.0.0.1:${await freePort()}`
  for (const folder of ['in', 'out']) mkdirSync(join(directory, EXAMPLE, folder), { recursive: true })
  for (const name of readdirSync(join(REPOSITORY, EXAMPLE)).filter((file) => file.endsWith('.yaml'))) {
    const text = readFileSync(join(REPOSITORY, EXAMPLE, name), 'utf8')
    // Ports of its own: the example's may be taken.
    const own = text.replaceAll('http://127.0.0.1:8088', webhook).replaceAll('http://127.0.0.1:8083', api.url)
    writeFileSync(join(directory, EXAMPLE, name), own)
  }
  const inbox = join(directory, EXAMPLE, 'in')
  writeFileSync(join(inbox, 'parcels.csv'), 'id,city,kg\n1,Oslo,2.5\n2,"Rome\nIT",1\n')
  await startUp({ manifests: EXAMPLE, directory, log: ['--data', join(directory, 'data')] })

  const arrivals = () => linesOf(join(directory, EXAMPLE, 'out/arrivals.txt'))
  await until('both parcels', WAIT, () => arrivals().length >= 2)
  expect(new Set(arrivals())).toEqual(
    new Set(['{"id":1,"city":"Oslo","kg":2.5}', '{"id":2,"city":"Rome\\nIT","kg":1}']),
  )
  await until('the file to be put away', WAIT, () => readdirSync(inbox).join() === 'parcels.csv.done')
  const plugins = () => linesOf(join(directory, EXAMPLE, 'out/plugins.txt'))
  await until('the plugins', WAIT, () => plugins().length >= 2)
  expect(plugins().slice(0, 2)).toEqual(['{"class":"A"}', '{"class":"B"}'])
})

function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
}
