import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, it } from 'vitest'

const SRC = join(import.meta.dirname, '../../src')

it('the main process of a worker loads no plugin code, which runs in processes of its own', () => {
  const { files } = loadedBy(join(SRC, 'worker/main.ts'))
  const plugins = [...files].map((file) => relative(SRC, file)).filter((file) => /^plugins\/.*\//.test(file))
  expect(plugins).toEqual([])
})

/** Large libraries that most tasks do not use: they are imported when the first plugin needs them. */
const LAZY_LIBRARIES = [
  '@marcbachmann/cel-js',
  're2js',
  '@bufbuild/protobuf',
  'avsc',
  'ajv',
  'pg',
  'csv-parse',
  'kafkajs',
]

it.each([
  ['a task thread', 'worker/isolation/tasks/task-thread-main.ts'],
  ['the catalog of shipped plugins', 'plugins/shipped-plugins.ts'],
])('%s does not load libraries at its start that only some plugins use', (_name, entry) => {
  const { files, packages } = loadedBy(join(SRC, entry))
  // A shipped plugin is among the loaded files, so they were all followed.
  expect([...files].map((file) => relative(SRC, file))).toContain('plugins/converters/protobuf/protobuf-converter.ts')
  expect([...packages].filter((name) => LAZY_LIBRARIES.includes(name))).toEqual([])
})

/** The files and packages that a module's import statements load, directly or not. Excludes dynamic imports. */
function loadedBy(entry: string) {
  const files = new Set<string>()
  const packages = new Set<string>()
  const queue = [entry]
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (files.has(file)) continue
    files.add(file)
    for (const specifier of statementsOf(file)) {
      if (specifier.startsWith('.')) queue.push(join(dirname(file), specifier))
      else packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier)
    }
  }
  return { files, packages }
}

function statementsOf(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8')
  const found = text.matchAll(/^(?:import|export)\s(?!type\b)(?:[^'"`;()]*?\sfrom\s+)?'([^']+)'/gm)
  return [...found].map(([, specifier]) => specifier!)
}
