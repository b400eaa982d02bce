import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createRegistryClient, type RegistryClient } from '../../src/clients/registry-client.ts'
import { run, startServer } from '../env/process.ts'
import { itOn, real } from '../env/real.ts'
import { runWeir, weirCommand } from '../support/cli.ts'
import { registerSchemas } from '../support/register-schemas.ts'
import { startRegistryProcess } from '../support/registry-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'

const apicurio = await real('apicurio')
const WAIT = { everyMs: 5, timeoutMs: 120_000 }
/** 10,000 in the long form. The import must last long enough to be interrupted twice. */
const VERSIONS = Number(process.env['WEIR_ARCHIVE_VERSIONS'] ?? 3_000)

it(`weir export and weir import copy ${VERSIONS} schemas without changes, although the import is interrupted and killed`, {
  timeout: 600_000,
}, async () => {
  const directory = temporaryDirectory()
  const registryOn = (name: string) => startRegistryProcess(['--data', join(directory, name)], {})
  const [source, target] = await Promise.all([registryOn('source'), registryOn('target')])
  await registerSchemas(createRegistryClient({ url: source.url }), VERSIONS)
  const weir = (...args: string[]) => weirCommand(directory, args)

  const exported = await run(weir('export', 'first', '--registry', source.url))
  expect(exported).toMatchObject({ code: 0, stderr: '' })
  expect(exported.stdout).toMatch(new RegExp(`^exported ${VERSIONS} versions of \\d+ subjects to first\n$`))

  const targetClient = createRegistryClient({ url: target.url })
  const subjects = () => targetClient.subjects({ prefix: ':*:' })
  const stopped = startServer(weir('import', 'first', '--registry', target.url), join(directory, 'stopped.log'))
  await until('some subjects', WAIT, async () => (await subjects()).length > 20)
  expect(await stopped.end(10_000, 'SIGINT')).toBe(3)
  expect(readFileSync(join(directory, 'stopped.log'), 'utf8')).toMatch(
    /^weir: interrupted by SIGINT\nrun the command again/,
  )
  for (const subject of await subjects())
    await expect(targetClient.mode(subject)).rejects.toMatchObject({ status: 404 })

  const before = (await subjects()).length
  const cutOff = startServer(weir('import', 'first', '--registry', target.url), join(directory, 'import.log'))
  await until('more subjects', WAIT, async () => (await subjects()).length > before + 10)
  await cutOff.kill()
  const planned = await run(weir('import', 'first', '--registry', target.url, '--dry-run'))
  expect(planned).toMatchObject({ code: 0, stderr: '' })
  const remaining = Number(/: (\d+) of them new/.exec(planned.stdout)?.[1])
  expect(remaining).toBeGreaterThan(0)
  expect(remaining).toBeLessThan(VERSIONS)
  const imported = await run(weir('import', 'first', '--registry', target.url))
  expect(imported).toMatchObject({ code: 0, stderr: '' })

  for (const [name, { url }] of Object.entries({ source, target })) {
    expect(await run(weir('export', `${name}.json`, '--deleted', '--registry', url))).toMatchObject({ code: 0 })
  }
  const textOf = (name: string) => readFileSync(join(directory, name), 'utf8')
  expect(textOf('target.json') === textOf('source.json')).toBe(true)
  await Promise.all([source.stop(), target.stop()])
})

it('weir import writes nothing and reports the conflicts if the archive contradicts the registry', async () => {
  const directory = temporaryDirectory()
  const registry = await startRegistryProcess(['--data', join(directory, 'data')], {})
  const client = createRegistryClient({ url: registry.url })
  const weir = (...args: string[]) => runWeir(directory, ...args)
  await client.register('s', { schema: '"int"' })
  await client.register('t', { schema: '"long"' })
  expect(await weir('export', 'all', '--registry', registry.url)).toMatchObject({ code: 0 })
  await client.deleteSubject('t')
  await client.deleteSubject('s')
  await client.deleteSubject('s', { permanent: true })
  await client.register('s', { schema: '"string"' })
  expect(await weir('import', 'all', '--registry', registry.url)).toMatchObject({
    code: 1,
    stdout:
      's version 1 has id 3 in the registry, not 1\nt version 1 is deleted in the registry, but not in the export\nnothing was written: 2 conflicts\n',
  })
  expect(await client.subjects()).toEqual(['s'])
  await registry.stop()
  expect(await weir('import', 'all', '--registry', registry.url)).toMatchObject({ code: 3 })
  expect(await weir('import', 'none', '--registry', registry.url)).toMatchObject({ code: 2 })
  expect(await weir('export', '--registry', registry.url)).toMatchObject({ code: 2 })
})

itOn([apicurio], 'weir import copies the schemas of Apicurio with their IDs, in canonical form', async () => {
  const directory = temporaryDirectory()
  const registry = await startRegistryProcess(['--data', join(directory, 'data')], {})
  const [apicurioClient, client] = [apicurio.address.url, registry.url].map((url) => createRegistryClient({ url })) as [
    RegistryClient,
    RegistryClient,
  ]
  // Other tests use the same Apicurio, so the names must be unique.
  const prefix = `t${randomUUID().replaceAll('-', '')}`
  const [base, avro, proto] = [`${prefix}-base`, `${prefix}-avro`, `${prefix}-proto`]
  await apicurioClient.register(base, { schema: `{"type":"record","name":"Base","namespace":"${prefix}","fields":[]}` })
  const references = [{ name: `${prefix}.Base`, subject: base, version: 1 }]
  await apicurioClient.register(avro, { schema: `{ "type": "array", "items": "${references[0]?.name}" }`, references })
  await apicurioClient.register(proto, {
    schemaType: 'PROTOBUF',
    schema: `syntax = "proto3"; package ${prefix}; message A { int32 x = 1; }`,
  })
  const weir = (...args: string[]) => runWeir(directory, ...args)
  expect(await weir('export', 'theirs', '--registry', apicurio.address.url)).toMatchObject({ code: 0, stderr: '' })
  expect(await weir('import', 'theirs', '--registry', registry.url)).toMatchObject({ code: 0, stderr: '' })
  for (const subject of [base, avro, proto]) {
    expect((await client.latest(subject)).id).toBe((await apicurioClient.latest(subject)).id)
  }
  expect(await client.latest(avro)).toMatchObject({
    references,
    schema: `{"type":"array","items":"${references[0]?.name}"}`,
  })
  // A second import finds the same schemas, although their canonical texts differ from those of Apicurio.
  const again = await weir('import', 'theirs', '--registry', registry.url)
  expect(again.stdout).toMatch(/: 0 of them new, 0 configs and modes\n$/)
  await registry.stop()
})
