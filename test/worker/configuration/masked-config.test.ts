import { describe, expect, it } from 'vitest'
import { MASK } from '../../../src/common/secrets/secret-keys.ts'
import { rejectMasks, restoreMaskedSecrets, toMaskedConfig } from '../../../src/worker/configuration/masked-config.ts'
import { localPluginHost } from '../../support/plugin-host.ts'

const plugins = localPluginHost().catalog
const STORED = {
  'connector.class': 'HttpSink',
  name: 'http',
  'http.api.url': 'https://me:open-sesame@api.example/?token=tok-12345',
  'connection.password': 'open-sesame',
  'sasl.jaas.config': '${env:JAAS}',
  note: 'copied: open-sesame',
  'transforms.mask.replacement': MASK,
}
const SHOWN = {
  ...STORED,
  'http.api.url': `https://me:${MASK}@api.example/?token=${MASK}`,
  'connection.password': MASK,
  note: `copied: ${MASK}`,
}

describe('a masked configuration', () => {
  it('masks secrets by key, inside other values, and wherever their values are repeated', () => {
    expect(toMaskedConfig(STORED, plugins)).toEqual(SHOWN)
  })

  it('restores the stored secrets when it is written back, except changed values', () => {
    const written = { ...SHOWN, topics: 'new', 'sasl.jaas.config': 'changed' }
    expect(restoreMaskedSecrets(written, STORED, plugins)).toEqual({
      config: { ...STORED, topics: 'new', 'sasl.jaas.config': 'changed' },
      unknown: [],
    })
  })

  it('is rejected when a mask corresponds to no stored secret', () => {
    const { unknown } = restoreMaskedSecrets(SHOWN, undefined, plugins)
    expect(unknown).toEqual(['http.api.url', 'connection.password'])
    expect(() => rejectMasks(unknown)).toThrow(/Invalid value \[hidden\] for configuration http\.api\.url: it stands/)
    const moved = { ...SHOWN, 'http.api.url': `https://me:${MASK}@elsewhere.example/?token=${MASK}` }
    expect(restoreMaskedSecrets(moved, STORED, plugins).unknown).toEqual(['http.api.url'])
  })

  it('accepts `[hidden]` as the value of a key that is never masked', () => {
    const written = { 'transforms.mask.replacement': MASK, 'db.password': 'real' }
    expect(restoreMaskedSecrets(written, undefined, plugins)).toEqual({ config: written, unknown: [] })
  })
})
