import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished, vi } from 'vitest'
import { startTestRegistry } from '../support/registry.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const root = join(import.meta.dirname, '../..')

it('the examples in docs/serde.md print the expected output', { tags: ['slow'] }, async () => {
  const registry = await startTestRegistry()
  onTestFinished(() => registry.stop())
  const examples = [...readFileSync(join(root, 'docs/serde.md'), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)]
  const complete = examples.map(([, example = '']) => example).filter((example) => !example.startsWith('import type'))
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
  for (const [at, example] of complete.entries()) {
    const source = example
      .replace("'weir/serde'", `'${pathToFileURL(join(root, 'src/serde/serde.ts')).href}'`)
      .replace('http://127.0.0.1:8081', registry.url)
    const file = join(temporaryDirectory(), `example-${at}.ts`)
    writeFileSync(file, source)
    await import(/* @vite-ignore */ pathToFileURL(file).href)
  }
  expect(printed.mock.calls).toEqual([
    ['00000000010e021474776f20706965636573'],
    [{ id: 7, note: 'two pieces' }],
    [false],
    [{ id: 1, email: 'ada@example.com' }],
  ])
  printed.mockRestore()
})
