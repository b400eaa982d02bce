import { describe, expect, it } from 'vitest'
import { generateDek } from '../../src/encryption/data-cipher.ts'
import { type KmsDriver, openKms } from '../../src/encryption/kms.ts'
import { localKmsDriver } from '../../src/encryption/local-kms.ts'
import golden from './tink.golden.json' with { type: 'json' }

const KEY = { kmsType: 'local-kms', kmsKeyId: 'any' }
const dek = generateDek('AES256_GCM')

describe('the local KMS', () => {
  const open = (params: Record<string, string>, environment: Record<string, string> = {}) =>
    openKms(KEY, [localKmsDriver(environment)], params)

  it.each(Object.entries(golden.algorithms))(
    "unwraps a key of %s that Confluent's local KMS wrapped",
    async (_, key) => {
      const unwrapped = await open({ secret: golden.secret }).unwrap(Buffer.from(key.wrapped, 'hex'))
      expect(unwrapped.toString('hex')).toBe(key.dek)
    },
  )

  it('uses the secret of the parameter, otherwise that of LOCAL_SECRET', async () => {
    const wrapped = await open({}, { LOCAL_SECRET: 'a' }).wrap(dek)
    expect(await open({ secret: 'a' }, { LOCAL_SECRET: 'b' }).unwrap(wrapped)).toEqual(dek)
  })

  it('unwraps with old secrets and wraps with the current one', async () => {
    const wrapped = await open({ secret: 'old' }).wrap(dek)
    const rotated = open({ secret: 'new', 'old.secrets': 'older,old' })
    expect(await rotated.unwrap(wrapped)).toEqual(dek)
    expect(await open({ secret: 'new' }, { LOCAL_OLD_SECRETS: 'old' }).unwrap(wrapped)).toEqual(dek)
    expect(await open({ secret: 'new' }).unwrap(await rotated.wrap(dek))).toEqual(dek)
  })

  it('rejects a key that was wrapped with another secret', async () => {
    const wrapped = await open({ secret: 'a' }).wrap(dek)
    await expect(open({ secret: 'b' }).unwrap(wrapped)).rejects.toMatchObject({
      code: 'kms_failed',
      message: expect.stringContaining('another secret'),
    })
  })

  it.each([{}, { secret: '' }])('rejects every call without a secret: %j', async (params) => {
    await expect(open(params).wrap(dek)).rejects.toMatchObject({
      code: 'kms_failed',
      cause: { code: 'missing_secret' },
    })
  })

  it('does not use a secret from the properties of the KEK', async () => {
    const kms = openKms({ ...KEY, kmsProps: { secret: 'known to whoever wrote the KEK' } }, [localKmsDriver({})], {})
    await expect(kms.wrap(dek)).rejects.toMatchObject({ cause: { code: 'missing_secret' } })
  })
})

describe('a KMS with several key ids', () => {
  /** Calls with a key ID that starts with `down` fail. */
  const driver: KmsDriver = {
    type: 'test-kms',
    open: ({ kmsKeyId }) => {
      const answer = async (bytes: Uint8Array) => {
        if (kmsKeyId.startsWith('down')) throw new Error(`${kmsKeyId} is unavailable`)
        return Buffer.concat([Buffer.from(kmsKeyId), bytes])
      }
      return { wrap: answer, unwrap: answer }
    },
  }
  const ALTERNATES = 'encrypt.alternate.kms.key.ids'
  const used = async (kmsKeyId: string, props: Record<string, string>, params: Record<string, string> = {}) =>
    (
      await openKms({ kmsType: 'test-kms', kmsKeyId, kmsProps: props }, [driver], params).wrap(Buffer.alloc(0))
    ).toString()

  it('uses the first key ID that works', async () => {
    expect(await used('one', { [ALTERNATES]: 'two' })).toBe('one')
    expect(await used('down', { [ALTERNATES]: 'down2 , two,,three' })).toBe('two')
    expect(await used('down', {}, { [ALTERNATES]: 'four' })).toBe('four')
  })

  it('names all key IDs if none works', async () => {
    await expect(used('down', { [ALTERNATES]: 'down2' })).rejects.toThrow(
      "KMS 'test-kms' could not wrap a key with key id 'down', 'down2': down2 is unavailable",
    )
  })

  it('names the available drivers if none has the KMS type', () => {
    const open = () => openKms({ kmsType: 'aws-kms', kmsKeyId: 'arn' }, [localKmsDriver({}), driver], {})
    expect(open).toThrow("no driver for KMS type 'aws-kms'; available drivers: 'local-kms', 'test-kms'")
    expect(open).toThrow(expect.objectContaining({ code: 'unknown_kms' }))
  })
})
