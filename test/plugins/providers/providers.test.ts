import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { directoryProvider } from '../../../src/plugins/providers/directory.ts'
import { environmentProvider } from '../../../src/plugins/providers/environment.ts'
import { fileProvider } from '../../../src/plugins/providers/file.ts'
import { parseConfig, type RawConfig } from '../../../src/sdk/index.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const files = (config: RawConfig = {}) => fileProvider.create(parseConfig(fileProvider.config, config))
const directories = (config: RawConfig = {}) => directoryProvider.create(parseConfig(directoryProvider.config, config))
const environment = (config: RawConfig = {}) =>
  environmentProvider.create(parseConfig(environmentProvider.config, config))

describe('FileConfigProvider', () => {
  it('reads the keys that are there, with the escapes of .properties files', async () => {
    const file = join(temporaryDirectory(), 'secrets.properties')
    writeFileSync(file, 'user = me\npassword: p\\u00e4ss=word\n')
    expect(await files().read(file, ['user', 'password', 'gone'])).toEqual({ user: 'me', password: 'päss=word' })
  })

  it('says which file it can not read', async () => {
    await expect(files().read('/no/such/file', ['a'])).rejects.toThrow(
      'Could not read properties from file /no/such/file: ENOENT',
    )
  })

  it('finds nothing outside of the allowed paths', async () => {
    const folder = temporaryDirectory()
    const inside = join(folder, 'in')
    mkdirSync(inside)
    for (const name of ['in/a.properties', 'out.properties', 'inside.properties']) {
      writeFileSync(join(folder, name), 'k=v')
    }
    const { read } = files({ 'allowed.paths': `${inside}, /elsewhere` })
    expect(await read(join(inside, 'a.properties'), ['k'])).toEqual({ k: 'v' })
    expect(await read(join(inside, '../out.properties'), ['k'])).toEqual({})
    expect(await read(join(folder, 'inside.properties'), ['k'])).toEqual({})
    expect(await read('', ['k'])).toEqual({})
    expect(() => files({ 'allowed.paths': 'relative' })).toThrow('expected absolute paths')
  })
})

describe('DirectoryConfigProvider', () => {
  it('reads whole files, and nothing but files of that folder', async () => {
    const folder = temporaryDirectory()
    mkdirSync(join(folder, 'below'))
    writeFileSync(join(folder, 'password'), 'two\nlines\n')
    writeFileSync(join(folder, 'below', 'x'), 'hidden')
    const found = await directories().read(folder, ['password', 'below', 'gone', 'below/x', '../x', '..', ''])
    expect(found).toEqual({ password: 'two\nlines\n' })
  })
})

describe('EnvVarConfigProvider', () => {
  it('reads variables, those of the allowlist only', () => {
    vi.stubEnv('WEIR_TEST_A', 'a')
    vi.stubEnv('WEIR_TEST_B', 'b')
    expect(environment().read('', ['WEIR_TEST_A', 'WEIR_TEST_B', 'WEIR_TEST_C'])).toEqual({
      WEIR_TEST_A: 'a',
      WEIR_TEST_B: 'b',
    })
    expect(environment({ 'allowlist.pattern': '.*_A' }).read('', ['WEIR_TEST_A', 'WEIR_TEST_B'])).toEqual({
      WEIR_TEST_A: 'a',
    })
    vi.unstubAllEnvs()
  })

  it('has no places', () => {
    expect(() => environment().read('x', ['A'])).toThrow(
      "Path is not supported for EnvVarConfigProvider, invalid value 'x'",
    )
  })
})
