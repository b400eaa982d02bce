import { describe, expect, it } from 'vitest'
import { provenanceOf, sourceOf } from '../../../scripts/release/provenance.ts'

const BUILD = {
  version: '0.2.0',
  commit: 'a'.repeat(40),
  source: 'git+https://git.example/weir/weir',
  sourceDateEpoch: 1_790_000_000,
  tools: { node: '24.21.0', npm: '11.0.0' },
  builder: 'urn:weir:builder:local',
  lock: { name: 'package-lock.json', digest: { sha256: 'b'.repeat(64) } },
}
const BASE = { name: 'base', uri: 'pkg:docker/node@24', digest: { sha256: 'd'.repeat(64) } }

describe('a provenance statement', () => {
  const statement = provenanceOf({ name: 'file.tgz', sha256: 'c'.repeat(64), madeFrom: [BASE] }, BUILD)

  it('has the types and the required fields of in-toto and SLSA', () => {
    expect(statement).toMatchObject({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: 'file.tgz', digest: { sha256: 'c'.repeat(64) } }],
      predicateType: 'https://slsa.dev/provenance/v1',
      predicate: {
        buildDefinition: { buildType: 'urn:weir:release:v1', externalParameters: { version: '0.2.0' } },
        runDetails: { builder: { id: 'urn:weir:builder:local' } },
      },
    })
  })

  it('names the commit, the lock file and the base image with their hashes', () => {
    expect(statement).toMatchObject({
      predicate: {
        buildDefinition: {
          resolvedDependencies: [
            { uri: 'git+https://git.example/weir/weir', digest: { gitCommit: 'a'.repeat(40) } },
            BUILD.lock,
            BASE,
          ],
        },
      },
    })
  })

  it('of a checkout without a public remote names the hash of the commit only', () => {
    const { source: _, ...build } = BUILD
    const local = provenanceOf({ name: 'f', sha256: '', madeFrom: [] }, { ...build, source: undefined })
    expect(local).toMatchObject({ predicate: { buildDefinition: { externalParameters: { source: { digest: {} } } } } })
    expect(JSON.stringify(local)).not.toContain('"uri"')
  })
})

describe('the address of a source', () => {
  it.each([
    ['https://git.example/weir/weir.git', 'git+https://git.example/weir/weir'],
    ['https://user:secret@git.example/weir/weir', 'git+https://git.example/weir/weir'],
    ['ssh://git@git.example:2222/weir/weir.git', 'git+https://git.example/weir/weir'],
    ['git@git.example:weir/weir.git', 'git+https://git.example/weir/weir'],
  ])('of %s has neither a user nor a password', (remote, source) => {
    expect(sourceOf(remote)).toBe(source)
  })

  it.each(['/srv/git/weir.git', '../weir', 'file:///srv/git/weir', ''])('of "%s" does not exist', (remote) => {
    expect(sourceOf(remote)).toBeUndefined()
  })
})
