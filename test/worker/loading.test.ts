import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, it } from 'vitest'

const SRC = join(import.meta.dirname, '../../src')

it('a worker loads the code of no plugin: that runs in processes and threads of its own', () => {
  const { files } = loadedBy(join(SRC, 'worker/main.ts'))
  const plugins = [...files].map((file) => relative(SRC, file)).filter((file) => /^plugins\/.*\//.test(file))
  expect(plugins).toEqual([])
})

/** What most tasks have no use for: it comes with the first plugin that has. */
const HEAVY = ['@marcbachmann/cel-js', 're2js', '@bufbuild/protobuf', 'avsc', 'ajv', 'pg', 'csv-parse', 'kafkajs']

it.each([
  ['a thread of tasks', 'worker/isolation/tasks/task-thread-entry.ts'],
  ['the plugins that ship', 'plugins/shipped.ts'],
])('%s loads no library that only some plugins use when it starts', (_what, entry) => {
  const { files, packages } = loadedBy(join(SRC, entry))
  // All that ships was looked at.
  expect([...files].map((file) => relative(SRC, file))).toContain('plugins/converters/protobuf/converter.ts')
  expect([...packages].filter((name) => HEAVY.includes(name))).toEqual([])
})

/** Everything that a module's import statements lead to; not what it imports when it is called. */
function loadedBy(entry: string) {
  const files = new Set<string>()
  const packages = new Set<string>()
  const waiting = [entry]
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue
    files.add(file)
    for (const specifier of statementsOf(file)) {
      if (specifier.startsWith('.')) waiting.push(join(dirname(file), specifier))
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
