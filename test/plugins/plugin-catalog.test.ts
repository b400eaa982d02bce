import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createCatalog } from '../../src/plugins/plugin-catalog.ts'
import { SHIPPED_VERSION } from '../../src/plugins/shipped-version.ts'
import { defineSink, describeConfig, z } from '../../src/sdk/index.ts'
import { SHIPPED, shippedCatalog } from '../support/shipped-plugins.ts'

const sink = (name: string, ...aliases: string[]) =>
  defineSink({
    class: name,
    aliases,
    version: '1',
    summary: 'Does nothing.',
    config: z.object({}),
    start: () => ({ put: () => {} }),
  })

describe('createCatalog', () => {
  it('finds a plugin of a kind by any of its names, case-sensitively', () => {
    const catalog = shippedCatalog()
    for (const name of [
      'FileStreamSource',
      'FileStreamSourceConnector',
      'org.apache.kafka.connect.file.FileStreamSourceConnector',
    ]) {
      expect(catalog.find('source', name)?.class).toBe('FileStreamSource')
    }
    expect(catalog.find('source', 'filestreamsource')).toBeUndefined()
    expect(catalog.find('sink', 'FileStreamSource')).toBeUndefined()
    expect(catalog.find('converter', 'io.confluent.connect.avro.AvroConverter')?.class).toBe('AvroConverter')
  })

  it('lists plugins by their Java class names, sorted by kind and name', () => {
    expect(shippedCatalog().list('sink')).toContainEqual({
      class: 'org.apache.kafka.connect.file.FileStreamSinkConnector',
      type: 'sink',
      version: SHIPPED_VERSION,
    })
    const names = createCatalog([sink('b'), sink('c', 'a.c'), sink('a')]).list()
    expect(names.map((entry) => entry.class)).toEqual(['a', 'a.c', 'b'])
  })

  it('rejects two plugins with the same name', () => {
    expect(() => createCatalog([sink('A'), sink('B', 'A')])).toThrow("two plugins of kind sink have the name 'A': A, B")
  })
})

describe('the shipped plugins', () => {
  it('have the version of the package', () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'))
    expect(new Set(SHIPPED.map((plugin) => plugin.version))).toEqual(new Set([version]))
  })

  it('describe each configuration key', () => {
    const bare = SHIPPED.flatMap(({ config }) =>
      describeConfig(config).filter(({ documentation }) => documentation === ''),
    )
    expect(bare).toEqual([])
  })
})
