import { describe, expect, it } from 'vitest'
import { parseResource } from '../../../src/operator/resources/parse-resource.ts'
import { RESOURCE_KINDS } from '../../../src/operator/resources/resource.ts'
import { boundaryCasesOf } from '../../support/crd-bounds.ts'

// test/e2e/crds.test.ts validates the same manifests on a real API server.

describe.each(RESOURCE_KINDS)('each field of the kind %s', (kind) => {
  const { at, past } = boundaryCasesOf(kind)

  it('is valid at its bounds', () => {
    const refused = at.flatMap(({ what, resource }) =>
      parseResource(resource).errors.map(({ message }) => `${what}: ${message}`),
    )
    expect(refused).toEqual([])
    expect(at.length).toBeGreaterThan(10)
  })

  it('is rejected beyond its bounds, with a message that names it', () => {
    const wrong = past.flatMap(({ what, resource, field }) => {
      const messages = parseResource(resource).errors.map(({ message }) => message)
      return messages.some((message) => message.includes(field)) ? [] : [`${what}: ${messages.join('; ')}`]
    })
    expect(wrong).toEqual([])
    expect(past.length).toBeGreaterThan(at.length / 2)
  })
})
