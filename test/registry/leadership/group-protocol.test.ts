import { describe, expect, it } from 'vitest'
import { parseAssignment, parseIdentity, urlOf } from '../../../src/registry/leadership/group-protocol.ts'

const bytes = (value: unknown) => Buffer.from(JSON.stringify(value))

describe('the registry group protocol', () => {
  it('parses the metadata of other implementations', () => {
    const karapace = { version: 1, host: 'h', port: 8081, scheme: 'https', master_eligibility: true, more: 1 }
    expect(urlOf(parseIdentity(bytes(karapace)))).toBe('https://h:8081')
    expect(urlOf(parseIdentity(bytes({ host: '::1', port: 1 })))).toBe('http://[::1]:1')
    expect(parseAssignment(bytes({ error: 0, master: 'm' }))).toMatchObject({ master: 'm', master_identity: null })
  })
})
