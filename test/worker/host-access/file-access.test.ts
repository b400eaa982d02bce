import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFileAccess } from '../../../src/worker/host-access/file-access.ts'
import { propertyRuns } from '../../support/property-seed.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const REFUSED = { code: 'not_allowed' }

/** An allowed directory, one that is not allowed, and a file of the worker in the allowed directory. */
function setUp() {
  const root = temporaryDirectory()
  const [allowed, outside] = [join(root, 'allowed'), join(root, 'outside')]
  for (const directory of [allowed, outside]) mkdirSync(directory)
  const own = join(allowed, 'users')
  const secret = join(outside, 'secret')
  for (const file of [own, secret]) writeFileSync(file, 'secret')
  return { allowed, outside, own, secret, files: createFileAccess({ allowed: [allowed], own: [own] }) }
}

describe('FileAccess', () => {
  it('opens files below an allowed path, also new ones', async () => {
    const { allowed, files } = setUp()
    await using handle = await files.open(join(allowed, 'new'), 'a+')
    await handle.appendFile('line')
    expect(readFileSync(join(allowed, 'new'), 'utf8')).toBe('line')
    expect(files.readFileSync(join(allowed, 'new')).toString()).toBe('line')
    await expect(files.open(join(allowed, 'none'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it.each<[string, (at: ReturnType<typeof setUp>) => string]>([
    ['a path outside', ({ secret }) => secret],
    ['a missing file outside', ({ outside }) => join(outside, 'none')],
    ['a path with ..', ({ allowed }) => `${allowed}/../outside/secret`],
    ['a path with the same prefix', ({ allowed }) => `${allowed}-too`],
    ['a link to a file', ({ allowed, secret }) => linked(join(allowed, 'link'), secret)],
    ['a link to a directory', ({ allowed, outside }) => join(linked(join(allowed, 'link'), outside), 'secret')],
    ['a link to a link', ({ allowed, secret }) => linked(join(allowed, 'a'), linked(join(allowed, 'b'), secret))],
    ['a link to a missing file', ({ allowed, outside }) => linked(join(allowed, 'link'), join(outside, 'new'))],
    ["the worker's own file", ({ own }) => own],
    ["a link to the worker's own file", ({ allowed, own }) => linked(join(allowed, 'link'), own)],
    ["a hard link to the worker's own file", ({ allowed, own }) => hardLinked(join(allowed, 'hard'), own)],
    ['a file below a file', ({ own }) => join(own, 'x')],
  ])('rejects %s', async (_, pathOf) => {
    const at = setUp()
    const path = pathOf(at)
    await expect(at.files.open(path)).rejects.toMatchObject(REFUSED)
    await expect(at.files.open(path, 'a+')).rejects.toMatchObject(REFUSED)
    expect(() => at.files.readFileSync(path)).toThrow(expect.objectContaining(REFUSED))
    expect(readFileSync(at.secret, 'utf8')).toBe('secret')
  })

  it('opens all files except those of the worker if no path is configured', async () => {
    const { own, secret, allowed } = setUp()
    const files = createFileAccess({ allowed: undefined, own: [own] })
    expect(files.readFileSync(secret).toString()).toBe('secret')
    await expect(files.open(linked(join(allowed, 'link'), own))).rejects.toMatchObject(REFUSED)
  })

  it('resolves an allowed path that is a link', () => {
    const { allowed, outside, secret } = setUp()
    const files = createFileAccess({ allowed: [linked(join(dirname(allowed), 'alias'), outside)], own: [] })
    expect(files.readFileSync(secret).toString()).toBe('secret')
  })

  it('never leaves the allowed paths while links are replaced concurrently', async () => {
    const { allowed, outside, secret, files } = setUp()
    const [inner, aside, path] = [join(allowed, 'inner'), join(allowed, 'aside'), join(allowed, 'inner', 'secret')]
    mkdirSync(inner)
    writeFileSync(path, 'public')
    let isOver = false
    const swapping = (async () => {
      while (!isOver) {
        renameSync(inner, aside)
        symlinkSync(outside, inner)
        await new Promise(setImmediate)
        rmSync(inner)
        renameSync(aside, inner)
        for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
      }
    })()
    const read = new Set<string>()
    for (let round = 0; round < propertyRuns(200) || read.size === 0; round++) {
      const handle = await files.open(path).catch(() => undefined)
      if (handle) read.add(await handle.readFile('utf8'))
      await handle?.close()
      const appended = await files.open(path, 'a+').catch(() => undefined)
      await appended?.close()
    }
    isOver = true
    await swapping
    expect([...read]).toEqual(['public'])
    expect(readFileSync(secret, 'utf8')).toBe('secret')
  })

  it('never leaves the allowed paths, for any combination of links and dots', async () => {
    const { allowed, outside, secret, files } = setUp()
    mkdirSync(join(allowed, 'deep', 'deeper'), { recursive: true })
    writeFileSync(join(allowed, 'deep', 'deeper', 'file'), 'public')
    const links = { out: outside, up: '..', root: '/', here: '.', deep2: 'deep', near: '../outside' }
    for (const [name, target] of Object.entries(links)) {
      symlinkSync(target, join(allowed, name))
      symlinkSync(target, join(allowed, 'deep', name))
    }
    const part = fc.constantFrom(...Object.keys(links), '..', '.', '', 'deep', 'deeper', 'outside', 'allowed')
    const name = fc.constantFrom('secret', 'file', 'new')
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), name, async (parts, last) => {
        const path = [allowed, ...parts, last].join('/')
        const handle = await files.open(path).catch(() => undefined)
        const text = await handle?.readFile('utf8')
        await handle?.close()
        expect(text).not.toBe('secret')
        await files.open(path, 'a+').then(
          (created) => created.close(),
          () => undefined,
        )
      }),
      { numRuns: propertyRuns(150) },
    )
    expect(readFileSync(secret, 'utf8')).toBe('secret')
    expect(() => readFileSync(join(outside, 'new'))).toThrow('ENOENT')
  })
})

describe('directories of FileAccess', () => {
  it('keep referring to the opened directory when its path is replaced', async () => {
    const { allowed, outside, files } = setUp()
    const inbox = join(allowed, 'inbox')
    await using directory = await files.openDirectory(inbox, { create: true })
    writeFileSync(join(inbox, 'secret'), 'public')
    renameSync(inbox, join(allowed, 'old'))
    symlinkSync(outside, inbox)
    await using handle = await directory.openEntry('secret')
    expect(await handle.readFile('utf8')).toBe('public')
    await expect(files.openDirectory(inbox)).rejects.toMatchObject(REFUSED)
  })

  it('reject an entry that is a symbolic link', async () => {
    const { allowed, secret, files } = setUp()
    linked(join(allowed, 'rows.csv'), secret)
    await using directory = await files.openDirectory(allowed)
    await expect(directory.openEntry('rows.csv')).rejects.toMatchObject({ code: 'ELOOP' })
  })
})

function linked(path: string, target: string): string {
  symlinkSync(target, path)
  return path
}

function hardLinked(path: string, target: string): string {
  linkSync(target, path)
  return path
}
