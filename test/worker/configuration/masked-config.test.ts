import { describe, expect, it } from 'vitest'
import { MASK } from '../../../src/config/secret-keys.ts'
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

describe('a configuration for those who may not see its secrets', () => {
  it('has them masked by key, inside other values, and wherever their values are repeated', () => {
    expect(toMaskedConfig(STORED, plugins)).toEqual(SHOWN)
  })

  it('means what is stored when it is written back, but for what was changed', () => {
    const written = { ...SHOWN, topics: 'new', 'sasl.jaas.config': 'changed' }
    expect(restoreMaskedSecrets(written, STORED, plugins)).toEqual({
      config: { ...STORED, topics: 'new', 'sasl.jaas.config': 'changed' },
      unknown: [],
    })
  })

  it('is refused where its masks mean nothing that is stored', () => {
    const { unknown } = restoreMaskedSecrets(SHOWN, undefined, plugins)
    expect(unknown).toEqual(['http.api.url', 'connection.password'])
    expect(() => rejectMasks(unknown)).toThrow(/Invalid value \[hidden\] for configuration http\.api\.url: it stands/)
    const moved = { ...SHOWN, 'http.api.url': `https://me:${MASK}@elsewhere.example/?token=${MASK}` }
    expect(restoreMaskedSecrets(moved, STORED, plugins).unknown).toEqual(['http.api.url'])
  })

  it('may hold the text of a mask where it masks nothing', () => {
    const written = { 'transforms.mask.replacement': MASK, 'db.password': 'real' }
    expect(restoreMaskedSecrets(written, undefined, plugins)).toEqual({ config: written, unknown: [] })
  })
})
