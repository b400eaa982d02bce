import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { NO_POLICY, Rights } from '../../src/http/permissions.ts'
import { openPermissions, parsePermissions } from '../../src/http/permissions-file.ts'
import type { Principal } from '../../src/http/users.ts'
import { matchesWildcard } from '../../src/regex/wildcard.ts'
import { cpuMsOf } from '../support/cpu-time.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const ADA: Principal = { name: 'ada', role: 'none', groups: [], method: 'basic' }
const rightsOf = (file: string, who: Partial<Principal> = {}, kind: 'subjects' | 'connectors' = 'subjects') =>
  Rights.forPrincipal(kind, { ...ADA, ...who }, parsePermissions(file, 'permissions.yaml'))

describe('wildcard pattern', () => {
  it.each([
    ['orders', 'orders', true],
    ['orders', 'orders-value', false],
    ['orders-*', 'orders-', true],
    ['orders-*', 'my-orders-1', false],
    ['*-value', 'orders-value', true],
    ['*-value', 'orders-value-2', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['*', '', true],
    ['a.c', 'abc', false],
    ['[a-z]', 'b', false],
  ])('%s matches %s: %s', (pattern, text, matches) => {
    expect(matchesWildcard(pattern, text)).toBe(matches)
  })

  it('is matched in time proportional to the lengths of pattern and text', async () => {
    const match = () => expect(matchesWildcard(`${'*a'.repeat(100)}b`, 'a'.repeat(2_000))).toBe(false)
    expect(await cpuMsOf(match)).toBeLessThan(5_000)
  })

  it.each([
    ['orders-*', 'orders-value', true],
    ['*', ':.team:orders', false],
    [':.team:*', ':.team:orders', true],
    [':.team:*', ':.team:', true],
    [':.team:*', 'orders', false],
    [':.team:orders-*', ':.team:', false],
    [':.team-*:*', ':.team-a:x', true],
    [':*:orders', 'orders', true],
    [':*:orders', ':.a:orders', true],
    [':.:orders', 'orders', true],
  ])('%s of subjects covers %s: %s', (pattern, subject, covered) => {
    const rights = rightsOf(JSON.stringify({ users: { ada: [{ subjects: [pattern], operations: ['read'] }] } }))
    expect(rights.allows('read', subject)).toBe(covered)
  })
})

describe('permissions', () => {
  const FILE = `
roles:
  readonly: []
users:
  ada: [{ subjects: ['ada-*'], operations: [read, write] }]
groups:
  team: [{ connectors: ['team-*'], operations: ['*'] }]
`
  it('are the union of those of role, user and groups', () => {
    const who = { role: 'developer', groups: ['team', 'unknown'] } as const
    expect(rightsOf(FILE, who).allows('delete', 'anything')).toBe(true)
    expect(rightsOf(FILE).allows('delete', 'ada-1')).toBe(false)
    expect(rightsOf(FILE).allows('write', 'ada-1')).toBe(true)
    expect(rightsOf(FILE, who, 'connectors').allows('offsets', 'team-1')).toBe(true)
    expect(rightsOf(FILE, who, 'connectors').allows('offsets', 'other')).toBe(false)
    expect(rightsOf(FILE, { name: 'toString' }).allowsAny('read')).toBe(false)
  })

  it('replace the defaults of the roles that they name only', () => {
    expect(rightsOf(FILE, { name: 'rea', role: 'readonly' }).allowsAny('read')).toBe(false)
    expect(rightsOf('{}', { name: 'rea', role: 'readonly' }).allowsAll('read')).toBe(true)
    expect(rightsOf(FILE, { name: 'eve', role: 'admin' }).allowsAll('mode')).toBe(true)
  })

  it('without a file, are empty for the role none and complete otherwise', () => {
    const nothing = Rights.forPrincipal('subjects', ADA, NO_POLICY)
    expect(nothing.allowsAny('read')).toBe(false)
    expect(() => nothing.requireAny('read')).toThrow("User 'ada' lacks the permission 'read' on any subject")
    expect(() => nothing.requireAll('mode')).toThrow("User 'ada' lacks the permission 'mode' on all subjects")
    expect(() => nothing.require('write', 's')).toThrow("User 'ada' lacks the permission 'write' on the subject 's'")
    const wide = rightsOf("users: { ada: [{ subjects: ['*', ':.*:*'], operations: [config] }] }")
    expect([wide.allows('config', ':.any:s'), wide.allowsAll('config')]).toEqual([true, false])
  })
})

describe('the rights of a connector', () => {
  const { connectors } = parsePermissions(
    `connectors:
       'team-*': [{ topics: ['team-*'], operations: [read, write] }, { topics: [rates], operations: [read] }]
       team-audit: [{ groups: ['audit-*'], operations: ['*'] }]
       'nothing-*': []`,
    'permissions.yaml',
  )
  const rightsOf = (connector: string, kind: 'topics' | 'groups' = 'topics') =>
    Rights.forConnector(kind, connector, connectors)

  it('are those of all patterns that match its name', () => {
    expect(rightsOf('team-1')?.allows('write', 'team-orders')).toBe(true)
    expect(rightsOf('team-1')?.allows('read', 'rates')).toBe(true)
    expect(rightsOf('team-1')?.allows('write', 'rates')).toBe(false)
    expect(rightsOf('team-1', 'groups')?.allows('read', 'audit-1')).toBe(false)
    expect(rightsOf('team-audit', 'groups')?.allows('read', 'audit-1')).toBe(true)
    expect(rightsOf('team-audit')?.allows('read', 'team-orders')).toBe(true)
  })

  it('are none if its entry is empty, and are not restricted without an entry', () => {
    expect(rightsOf('nothing-1')?.allows('read', 'team-orders')).toBe(false)
    expect(rightsOf('other')).toBeUndefined()
  })
})

describe('permissions file', () => {
  it.each([
    ['a: [', 'permissions.yaml: '],
    ['people: {}', 'permissions.yaml: the file: Unrecognized key: "people"'],
    ['roles: { boss: [] }', 'permissions.yaml: roles: Unrecognized key: "boss"'],
    [
      "users: { ada: [{ subjects: ['*'], operations: [wirte] }] }",
      'permissions.yaml: users.ada.0: operations.0: expected * or some of read, write',
    ],
    ["users: { ada: [{ connectors: ['*'], operations: [mode] }] }", 'expected * or some of read, write, lifecycle'],
    ["users: { ada: [{ subjects: ['*'], connectors: ['*'], operations: [read] }] }", 'users.ada.0: Unrecognized key'],
    ['users: { ada: [{ operations: [read] }] }', 'permissions.yaml: users.ada.0: '],
    ['users: { ada: [{ subjects: [], operations: [read] }] }', 'users.ada.0.subjects: Too small'],
    ["users: { ada: [{ topics: ['*'], operations: [write] }] }", 'users.ada.0: '],
    ["connectors: { 'a-*': [{ topics: ['*'], operations: [delete] }] }", 'expected * or some of read, write'],
    ["connectors: { 'a-*': [{ subjects: ['*'], operations: [read] }] }", 'connectors.a-*.0: '],
    ['', 'permissions.yaml: the file: Invalid input'],
  ])('rejects %s with the position of the error', (text, message) => {
    expect(() => parsePermissions(text, 'permissions.yaml')).toThrow(message)
  })

  it('is read again when it changes; an invalid new version leaves the permissions unchanged', async () => {
    const file = join(temporaryDirectory(), 'permissions.yaml')
    const write = (operation: string) =>
      writeFileSync(file, `users: { ada: [{ subjects: ['*'], operations: [${operation}] }] }`)
    write('read')
    const policy = openPermissions({ 'weir.authorization.permissions.file': file }, silentLogger())
    onTestFinished(() => policy.close())
    const may = (operation: 'read' | 'write') =>
      Rights.forPrincipal('subjects', ADA, policy.current()).allowsAny(operation)
    expect([may('read'), may('write')]).toEqual([true, false])
    write('write')
    await vi.waitFor(() => expect([may('read'), may('write')]).toEqual([false, true]), { timeout: 25_000 })
    write('everything')
    expect(may('write')).toBe(true)
  })

  it('prevents the start when it is missing', () => {
    const settings = { 'weir.authorization.permissions.file': '/nowhere/permissions.yaml' }
    expect(() => openPermissions(settings, silentLogger())).toThrow(
      'cannot read the permissions file /nowhere/permissions.yaml',
    )
  })
})
