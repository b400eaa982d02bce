export const SCAFFOLD_KINDS = ['source', 'sink', 'transform'] as const
export type ScaffoldKind = (typeof SCAFFOLD_KINDS)[number]

/** The files of a working plugin, as a starting point. `name` is in PascalCase; `version` is that of this package. */
export function scaffoldPlugin(
  name: string,
  kind: ScaffoldKind,
  version: string,
): { readonly folder: string; readonly files: Readonly<Record<string, string>> } {
  const folder = name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase()
  const constant = name.charAt(0).toLowerCase() + name.slice(1)
  const { plugin, test } = TEMPLATES[kind]
  const filled = (template: string) =>
    template.replaceAll('NAME', name).replaceAll('CONSTANT', constant).replaceAll('FILE', folder)
  const manifest = {
    name: folder,
    version: '0.1.0',
    type: 'module',
    keywords: ['weir-plugin'],
    exports: `./${folder}.ts`,
    scripts: { test: 'node --test' },
    devDependencies: { weir: `^${version}` },
  }
  return {
    folder,
    files: {
      'package.json': `${JSON.stringify(manifest, null, 2)}\n`,
      [`${folder}.ts`]: filled(plugin),
      [`${folder}.test.ts`]: filled(test),
    },
  }
}

const TEMPLATES: Readonly<Record<ScaffoldKind, { readonly plugin: string; readonly test: string }>> = {
  source: {
    plugin: `import { defineSource, field, INT64, z } from 'weir/sdk'

/** Counts upwards. The source offset is the next number. */
export const CONSTANT = defineSource({
  class: 'NAME',
  version: '0.1.0',
  summary: 'Counts upwards.',
  config: z.object({
    topic: field.text({ doc: 'Topic for the numbers.', importance: 'HIGH', nonEmpty: true }),
    'batch.size': field.int({ doc: 'Numbers per batch.', min: 1 }).default(100),
  }),

  async *poll({ config, signal, resumeFrom }) {
    const partition = { counter: 'main' }
    let next = Number(resumeFrom(partition)?.next ?? 0)
    while (!signal.aborted) {
      const numbers = Array.from({ length: config['batch.size'] }, (_, index) => next + index)
      next += numbers.length
      yield numbers.map((number) => ({
        topic: config.topic,
        value: number,
        valueSchema: INT64,
        sourcePartition: partition,
        sourceOffset: { next: number + 1 },
      }))
    }
  },
})
`,
    test: `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runSource } from 'weir/sdk'
import { CONSTANT } from './FILE.ts'

test('continues after the committed offset', async () => {
  const source = runSource(CONSTANT, {
    config: { topic: 'numbers' },
    offsets: [{ partition: { counter: 'main' }, offset: { next: 7 } }],
  })
  const records = await source.take(3)
  await source.stop()
  assert.deepEqual(records.map((record) => record.value), [7, 8, 9])
})
`,
  },
  sink: {
    plugin: `import { appendFile } from 'node:fs/promises'
import { defineSink, field, z } from 'weir/sdk'

/** Appends values to a file, one line each. */
export const CONSTANT = defineSink({
  class: 'NAME',
  version: '0.1.0',
  summary: 'Appends values to a file as JSON, one line each.',
  config: z.object({
    path: field.text({ doc: 'Path of the file.', importance: 'HIGH', nonEmpty: true }),
  }),

  start: ({ config, reject }) => ({
    async put(records) {
      const lines: string[] = []
      for (const record of records) {
        if (record.value === null) await reject(record, new Error('the record has no value'))
        else lines.push(JSON.stringify(record.value))
      }
      // Offsets may be committed after this returns: all records are in the file.
      if (lines.length > 0) await appendFile(config.path, lines.join('\\n') + '\\n')
    },
  }),
})
`,
    test: `import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runSink } from 'weir/sdk'
import { CONSTANT } from './FILE.ts'

test('writes values and rejects records without one', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'FILE-')), 'out')
  const sink = await runSink(CONSTANT, { config: { path } })
  await sink.put([{ topic: 't', value: { id: 1 } }, { topic: 't', value: null }, { topic: 't', value: 'two' }])
  await sink.stop()
  assert.equal(readFileSync(path, 'utf8'), '{"id":1}\\n"two"\\n')
  assert.deepEqual(sink.rejected.map(({ record }) => record.offset), [1])
})
`,
  },
  transform: {
    plugin: `import { defineTransform, field, z } from 'weir/sdk'

/** Adds a prefix to the topic of each record. */
export const CONSTANT = defineTransform({
  class: 'NAME',
  version: '0.1.0',
  summary: 'Adds a prefix to the topic.',
  config: z.object({
    prefix: field.text({ doc: 'The prefix.', importance: 'HIGH', nonEmpty: true }),
  }),
  create:
    ({ prefix }) =>
    (record) => ({ ...record, topic: prefix + record.topic }),
})
`,
    test: `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CONSTANT } from './FILE.ts'

test('changes only the topic', () => {
  const record = { topic: 't', key: null, keySchema: null, value: 1, valueSchema: null, headers: [], timestampMs: null }
  assert.deepEqual(CONSTANT.create({ prefix: 'a.' })(record), { ...record, topic: 'a.t' })
})
`,
  },
}
