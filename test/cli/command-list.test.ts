import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/command-list.ts'

describe.each(Object.entries(COMMANDS))('weir %s', (name, entry) => {
  it('has help with its usage and an example', async () => {
    const { help } = await entry.load()
    expect(help).toMatch(new RegExp(`^usage: weir ${name}\\b`))
    expect(help).toMatch(new RegExp(`^  weir ${name}\\b`, 'm'))
  })
})

describe('a command on what runs', () => {
  it('loads no program and no HTTP server, which takes half a second, before it needs one', () => {
    const loaded = new Set<string>()
    const load = (file: string) => {
      if (loaded.has(file)) return
      loaded.add(file)
      // Neither types nor what is imported later.
      const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export) (?!type )(?:[^']*? from )?'(\.[^']+)'/gm)
      for (const [, target] of imports) load(join(file, '..', target!))
    }
    load('src/cli/verbs/verbs.ts')
    load('src/cli/commands/complete.ts')
    expect([...loaded].filter((file) => /^src\/(operator|registry|worker|http)\//.test(file))).toEqual([])
    expect(loaded.size).toBeGreaterThan(30)
  })
})
