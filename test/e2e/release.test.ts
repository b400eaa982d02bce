import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { must } from '../env/debian.ts'

const ROOT = join(import.meta.dirname, '../..')
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
}

it('the bill of materials names all that Weir carries with its licence, and no tool', async () => {
  const printed = await must({ file: 'npm', args: ['run', '--silent', 'sbom'], directory: ROOT })
  type Component = { readonly name: string; readonly version: string; readonly licenses?: readonly object[] }
  const bill = JSON.parse(printed) as { readonly bomFormat: string; readonly components: readonly Component[] }
  expect(bill.bomFormat).toBe('CycloneDX')
  const names = new Map(bill.components.map((component) => [component.name, component]))
  for (const [name, version] of Object.entries(manifest.dependencies)) {
    expect(names.get(name)).toMatchObject({ version, licenses: [expect.anything()] })
  }
  expect(['vitest', 'typescript', '@biomejs/biome', 'testcontainers'].filter((name) => names.has(name))).toEqual([])
})
