import { describe, expect, it } from 'vitest'
import { assertNamespaceAccess } from '../../src/operator/namespace-access.ts'
import { type RegistryRuntimeConfig, RUNTIME_DEFAULTS } from '../../src/operator/runtimes.ts'

const entry = (more: Partial<RegistryRuntimeConfig>): RegistryRuntimeConfig => ({
  ...RUNTIME_DEFAULTS,
  name: 'main',
  endpoint: { url: 'http://r' },
  ...more,
})
const isGranted = (more: Partial<RegistryRuntimeConfig>, scope: string | undefined, namespace = 'shop') => {
  try {
    assertNamespaceAccess(entry(more), namespace, scope)
    return true
  } catch (error) {
    return (error as Error).message
  }
}

describe('the scopes of a registry that a namespace may use', () => {
  it('are all without a configuration', () => {
    for (const scope of ['orders', ':.x:orders', ':.x:', undefined]) expect(isGranted({}, scope)).toBe(true)
  })

  it.each([
    ['shop-orders', true],
    [':.x:shop-orders', true],
    ['orders', 'registry main: namespace shop may use only subjects that begin with shop- or s_'],
    [':.x:orders', 'registry main: namespace shop may use only subjects that begin with shop- or s_'],
    [
      undefined,
      'registry main: namespace shop may use only subjects that begin with shop- or s_, and may not change settings of the whole context',
    ],
  ])('are those with its prefixes: %s', (scope, granted) => {
    const subjectPrefixes = { shop: ['shop-', 's_'] }
    expect(isGranted({ subjectPrefixes }, scope)).toBe(granted)
    expect(isGranted({ subjectPrefixes }, scope, 'other')).toBe(true)
  })

  it.each([
    ['orders', true],
    [':.:orders', true],
    [undefined, true],
    [':.shop:orders', true],
    [':.shop:', true],
    [':.x:orders', 'registry main: namespace shop may use only the contexts .default, .shop, not .x'],
    [':.x:', 'registry main: namespace shop may use only the contexts .default, .shop, not .x'],
  ])('are those in its contexts: %s', (scope, granted) => {
    expect(isGranted({ contexts: { shop: ['.default', '.shop'] } }, scope)).toBe(granted)
  })

  it('are those of the entry * for a namespace without an entry', () => {
    const contexts = { '*': ['.default'], admin: ['.x'] }
    expect(isGranted({ contexts }, ':.x:a')).toBe(
      'registry main: namespace shop may use only the contexts .default, not .x',
    )
    expect(isGranted({ contexts }, ':.x:a', 'admin')).toBe(true)
    expect(isGranted({ contexts }, 'a', 'admin')).toBe(
      'registry main: namespace admin may use only the contexts .x, not .default',
    )
  })
})
