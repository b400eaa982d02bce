import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, it } from 'vitest'
import { SHIPPED_MODULES } from '../../src/plugins/shipped-modules.ts'

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
  ['a task process', ['worker/isolation/tasks/task-process-main.ts'], 'java/java-plugins.ts'],
  ['a plugin process', ['worker/isolation/plugins/plugin-process-main.ts'], 'sdk/index.ts'],
  [
    'a shipped plugin',
    Object.keys(SHIPPED_MODULES).map((path) => `plugins/${path}.ts`),
    'plugins/converters/protobuf/protobuf-converter.ts',
  ],
])('%s does not load libraries at its start that only some plugins use', (_name, entries, known) => {
  const loaded = entries.map((entry) => loadedBy(join(SRC, entry)))
  // A known file is among the loaded ones, so they were all followed.
  expect(loaded.flatMap(({ files }) => [...files]).map((file) => relative(SRC, file))).toContain(known)
  const packages = new Set(loaded.flatMap((one) => [...one.packages]))
  expect([...packages].filter((name) => LAZY_LIBRARIES.includes(name))).toEqual([])
})

it.each(['worker/isolation/tasks/task-process-main.ts', 'worker/isolation/plugins/plugin-process-main.ts'])(
  'a process loads a shipped plugin when it is used, not at its start: %s',
  (entry) => {
    const modules = Object.keys(SHIPPED_MODULES).map((path) => join(SRC, `plugins/${path}.ts`))
    const { files } = loadedBy(join(SRC, entry))
    expect(modules.filter((file) => files.has(file))).toEqual([])
  },
)

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
