import { describe, expect, it } from 'vitest'
import { immutableFieldError } from '../../../src/operator/resources/immutable-fields.ts'
import { parseResource } from '../../../src/operator/resources/parse-resource.ts'
import { IMMUTABLE_FIELD_CHANGES, INVALID_MANIFESTS, VALID_MANIFESTS } from '../../support/manifests.ts'

// test/e2e/crds.test.ts validates the same manifests on a real API server.

describe('a manifest', () => {
  it.each(VALID_MANIFESTS)('is valid: $what', ({ resource }) => {
    expect(parseResource(resource)).toMatchObject({ errors: [], declared: { kind: resource.kind } })
  })

  it.each(INVALID_MANIFESTS)('is rejected with a message that names the field: $what', ({ resource, message }) => {
    const { declared, errors } = parseResource(resource)
    expect(declared).toBeUndefined()
    expect(errors.map((fault) => fault.message).join('\n')).toMatch(message)
  })

  it.each(IMMUTABLE_FIELD_CHANGES)('has an immutable field: $field', ({ before, after, field }) => {
    const was = parseResource(before).declared!
    const is = parseResource({ ...before, spec: { ...before.spec, ...after } }).declared!
    expect(immutableFieldError(was.kind, was.spec, was.spec)).toBeUndefined()
    expect(immutableFieldError(was.kind, was.spec, is.spec)).toContain(`spec.${field} is immutable`)
  })
})
