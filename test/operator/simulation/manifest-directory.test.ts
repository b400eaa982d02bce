import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { API_VERSION } from '../../../src/common/resource-api.ts'
import { readManifestDirectory } from '../../../src/operator/simulation/manifest-directory.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const HEAD = `apiVersion: ${API_VERSION}\n`
const connector = (name: string) =>
  `${HEAD}kind: Connector\nmetadata:\n  name: ${name}\nspec:\n  class: A\n  config:\n    topic: t\n    batch.size: "1"\n`

/** Reads a directory with these files. */
function read(files: Readonly<Record<string, string>>) {
  const root = temporaryDirectory()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return readManifestDirectory(root)
}

describe('a directory of manifests', () => {
  it('locates each field of a resource, in whichever document and file it is', async () => {
    const { locate } = await read({ 'a/b.yaml': `${connector('one')}---\n${connector('two')}` })
    const key = 'Connector/default/two'
    expect(locate(key)).toEqual({ file: 'a/b.yaml', line: 11, column: 1 })
    expect(locate(key, 'spec.class')).toEqual({ file: 'a/b.yaml', line: 16, column: 10 })
    expect(locate(key, 'spec.config[batch.size]')).toEqual({ file: 'a/b.yaml', line: 19, column: 17 })
    expect(locate(key, 'spec.config[missing]')).toEqual({ file: 'a/b.yaml', line: 17, column: 3 })
    expect(locate(key, 'spec.valuesFrom')).toEqual({ file: 'a/b.yaml', line: 15, column: 1 })
  })

  it('separates documents of other programs from invalid ones', async () => {
    const { problems, foreignDocuments, resources } = await read({
      'a.yaml':
        'apiVersion: apps/v1\nkind: Deployment\n---\napiVersion: platform.confluent.io/v1beta1\nkind: Connector\n',
      'b.json': '{"name":"not-for-kubernetes"}',
      'c.yaml': `${HEAD}kind: Conector\n`,
      'd.yaml': 'apiVersion: weir.de/v1alpha1\nkind: Subject\n',
      'e.yaml': 'kind: Subject\n',
      'f.yaml': `${HEAD}kind: Subject\nmetadata: {na`,
    })
    expect(resources).toEqual([])
    expect(foreignDocuments.map(({ file, line }) => [file, line])).toEqual([
      ['a.yaml', 2],
      ['a.yaml', 4],
      ['b.json', 1],
    ])
    expect(problems.map(({ file, message }) => [file, message])).toEqual([
      ['c.yaml', expect.stringContaining('did you mean Connector?')],
      ['d.yaml', expect.stringContaining(`expected ${API_VERSION}`)],
      ['e.yaml', expect.stringContaining('apiVersion is missing')],
      ['f.yaml', expect.stringContaining('is not YAML')],
    ])
  })

  it('reports a resource that is declared twice at its second place', async () => {
    const { problems, resources } = await read({ 'a.yaml': connector('one'), 'b.yaml': `\n${connector('one')}` })
    expect(resources).toHaveLength(1)
    const message = 'Connector/default/one is declared in a.yaml:1 already: rename or remove one of them'
    expect(problems).toEqual([{ file: 'b.yaml', line: 2, column: 1, message }])
  })

  it('follows no link that leads out of it', async () => {
    const [outside, root] = [temporaryDirectory(), temporaryDirectory()]
    writeFileSync(join(outside, 'secret.yaml'), 'password: topsecret\n: {')
    writeFileSync(join(root, 'real.yaml'), connector('one'))
    symlinkSync(join(outside, 'secret.yaml'), join(root, 'link.yaml'))
    symlinkSync(outside, join(root, 'folder'))
    symlinkSync('real.yaml', join(root, 'same.yaml'))
    const { problems } = await readManifestDirectory(root)
    expect(problems.map(({ file, message }) => [file, message])).toEqual([
      ['link.yaml', expect.stringContaining('a link to a file outside of the directory')],
      ['same.yaml', expect.stringContaining('is declared in real.yaml:1 already')],
    ])
  })

  it('provides ConfigMaps by namespace and name', async () => {
    const { configMaps } = await read({
      'a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: n}\ndata: {k: v}\n',
    })
    expect([...configMaps]).toEqual([['n/m', { k: 'v' }]])
  })
})
