import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished, vi } from 'vitest'
import { startTestRegistry } from '../support/registry.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const root = join(import.meta.dirname, '../..')

it('the example of docs/serde.md works as it stands there', async () => {
  const registry = await startTestRegistry()
  onTestFinished(() => registry.stop())
  const [, example = ''] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, 'docs/serde.md'), 'utf8')) ?? []
  const here = example
    .replace("'weir/serde'", `'${pathToFileURL(join(root, 'src/serde/serde.ts')).href}'`)
    .replace('http://127.0.0.1:8081', registry.url)
  const file = join(temporaryDirectory(), 'example.ts')
  writeFileSync(file, here)
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
  await import(/* @vite-ignore */ pathToFileURL(file).href)
  expect(printed.mock.calls).toEqual([['00000000010e021474776f20706965636573'], [{ id: 7, note: 'two pieces' }]])
  printed.mockRestore()
})
