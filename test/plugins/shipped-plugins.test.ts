import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CODE_DIRECTORY } from '../../src/common/program-files.ts'
import { toDescriptor } from '../../src/plugins/plugin-descriptor.ts'
import { ShippedPlugins } from '../../src/plugins/shipped-plugins.ts'
import { SHIPPED_VERSION } from '../../src/plugins/shipped-version.ts'
import { SHIPPED_BY_MODULE } from '../support/shipped-plugins.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

// `npx vitest run test/plugins/shipped-plugins.test.ts -u` writes the descriptions anew.

const FILE = join(CODE_DIRECTORY, 'plugins/shipped-descriptors.json')

/** A copy of the descriptions in which a text is replaced. */
function changed(from: string, to: string): string {
  const text = readFileSync(FILE, 'utf8')
  expect(text).toContain(from)
  const file = join(temporaryDirectory(), 'shipped-descriptors.json')
  writeFileSync(file, text.replace(from, to))
  return file
}

it('the generated descriptions are those of the plugins', async () => {
  const modules = Object.fromEntries([...SHIPPED_BY_MODULE].map(([path, plugins]) => [path, plugins.map(toDescriptor)]))
  await expect(`${JSON.stringify({ version: SHIPPED_VERSION, modules }, null, 2)}\n`).toMatchFileSnapshot(FILE)
})

it('every described plugin is loaded as it is described', async () => {
  const shipped = new ShippedPlugins()
  expect(shipped.descriptors.length).toBeGreaterThan(70)
  for (const { kind, class: name } of shipped.descriptors) {
    expect(await shipped.load({ kind, class: name })).toMatchObject({ kind, class: name })
  }
})

it('a plugin that does not ship is not loaded', async () => {
  expect(await new ShippedPlugins().load({ kind: 'sink', class: 'FileStreamSource' })).toBeUndefined()
})

it('descriptions of another version are rejected', () => {
  const file = changed(`"version": "${SHIPPED_VERSION}"`, '"version": "0.0.9"')
  expect(() => new ShippedPlugins(file)).toThrow(`${file} describes version 0.0.9, not ${SHIPPED_VERSION}`)
})

it('a plugin that is not as it is described is rejected', async () => {
  const file = changed('"name": "batch.size"', '"name": "batch.sizes"')
  const plugin = { kind: 'source', class: 'FileStreamSource' } as const
  await expect(new ShippedPlugins(file).load(plugin)).rejects.toThrow('FileStreamSource is not as')
})
