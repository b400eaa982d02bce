import { z } from 'zod'
import { type Endpoint, RequestError, requestChecked, undefinedIfNotFound } from './http-client.ts'

// Wire types of the DEK registry, the part of a schema registry that stores the keys of field encryption. Members that
// are absent on the wire are absent here.

/** A key encryption key (KEK): the key of a KMS that encrypts data encryption keys. */
export type KekInfo = {
  readonly name: string
  readonly kmsType: string
  readonly kmsKeyId: string
  readonly kmsProps?: Readonly<Record<string, string>>
  /** Whether the registry itself may use the KMS, to encrypt and decrypt keys for clients without access to it. */
  readonly shared?: boolean
}

/** One version of a data encryption key (DEK). */
export type DekInfo = {
  readonly kekName: string
  readonly subject: string
  readonly version: number
  readonly algorithm: string
  /** The key encrypted by the KEK, in base64. */
  readonly encryptedKeyMaterial?: string
  /** The decrypted key in base64. Present only if the KEK is shared. */
  readonly keyMaterial?: string
  /** When it was created, in ms since 1970. */
  readonly ts?: number
}

export type NewKek = Pick<KekInfo, 'name' | 'kmsType' | 'kmsKeyId'> & { readonly shared: boolean }
/** Without `encryptedKeyMaterial`, the registry generates the key, which requires a shared KEK. */
export type NewDek = Pick<DekInfo, 'subject' | 'version' | 'algorithm' | 'encryptedKeyMaterial'>
export type DekQuery = Pick<DekInfo, 'kekName' | 'subject' | 'algorithm'> & {
  /** -1 is the latest version. */
  readonly version: number
  /** Whether to return soft-deleted versions too. */
  readonly deleted: boolean
}

/** Every call rejects with a `RequestError`. `undefined` means that the key does not exist. */
export interface DekRegistryClient {
  kek(name: string): Promise<KekInfo | undefined>
  createKek(kek: NewKek): Promise<KekInfo>
  dek(query: DekQuery): Promise<DekInfo | undefined>
  createDek(kekName: string, dek: NewDek): Promise<DekInfo>
}

const MEDIA_TYPE = 'application/vnd.schemaregistry.v1+json'
const KEKS = '/dek-registry/v1/keks'

const kekShape = z.looseObject({ name: z.string(), kmsType: z.string(), kmsKeyId: z.string() })
const dekShape = z.looseObject({ kekName: z.string(), subject: z.string(), version: z.number(), algorithm: z.string() })

export function createDekRegistryClient(endpoint: Endpoint): DekRegistryClient {
  const post = <Body>(shape: z.ZodType, path: string, body: unknown) =>
    requestChecked<Body>(endpoint, { method: 'POST', path, body, contentType: MEDIA_TYPE }, shape)
  return {
    kek: (name) =>
      undefinedIfNotFound(
        requestChecked<KekInfo>(endpoint, { method: 'GET', path: `${KEKS}/${encodeURIComponent(name)}` }, kekShape),
      ),
    createKek: (kek) => post<KekInfo>(kekShape, KEKS, kek),
    dek({ kekName, subject, version, algorithm, deleted }) {
      const path = `${KEKS}/${encodeURIComponent(kekName)}/deks/${encodeURIComponent(subject)}/versions/${version}`
      return undefinedIfNotFound(
        requestChecked<DekInfo>(endpoint, { method: 'GET', path, query: { algorithm, deleted } }, dekShape),
      )
    },
    async createDek(kekName, dek) {
      const path = `${KEKS}/${encodeURIComponent(kekName)}/deks`
      try {
        return await post<DekInfo>(dekShape, `${path}/${encodeURIComponent(dek.subject)}`, dek)
      } catch (error) {
        // Registries before 8.0 accept the subject only in the body.
        if (error instanceof RequestError && error.status === 405) return post<DekInfo>(dekShape, path, dek)
        throw error
      }
    },
  }
}
