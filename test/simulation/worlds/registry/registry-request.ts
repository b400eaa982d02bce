/** A request to a registry, as part of a step. */
export type SubjectRequest =
  | { readonly kind: 'register'; readonly subject: string; readonly content: number }
  | { readonly kind: 'import'; readonly subject: string; readonly content: number; readonly version: number }
  | {
      readonly kind: 'delete-version'
      readonly subject: string
      readonly version: number | 'latest'
      readonly permanent: boolean
    }
  | { readonly kind: 'delete-subject'; readonly subject: string; readonly permanent: boolean }
  | { readonly kind: 'set-config'; readonly subject: string; readonly level: Level }
  | { readonly kind: 'delete-config'; readonly subject: string }
  | { readonly kind: 'set-mode'; readonly subject: string; readonly mode: Mode; readonly force: boolean }
  | { readonly kind: 'delete-mode'; readonly subject: string }

export type SubjectRead =
  | { readonly kind: 'versions'; readonly subject: string }
  | { readonly kind: 'version'; readonly subject: string; readonly version: number }
  | { readonly kind: 'lookup'; readonly subject: string; readonly content: number }

export type KeyRequest =
  | { readonly kind: 'create-kek'; readonly kek: string }
  | { readonly kind: 'delete-kek'; readonly kek: string; readonly permanent: boolean }
  | { readonly kind: 'undelete-kek'; readonly kek: string }
  | {
      readonly kind: 'create-dek'
      readonly kek: string
      readonly subject: string
      readonly version: number
      readonly material: string
    }
  | {
      readonly kind: 'delete-dek'
      readonly kek: string
      readonly subject: string
      readonly version: number
      readonly permanent: boolean
    }
  | { readonly kind: 'undelete-dek'; readonly kek: string; readonly subject: string; readonly version: number }

export type KeyRead = { readonly kind: 'dek'; readonly kek: string; readonly subject: string; readonly version: number }

export type RegistryRequest = SubjectRequest | SubjectRead | KeyRequest | KeyRead

export type Level = 'NONE' | 'BACKWARD' | 'BACKWARD_TRANSITIVE'
export type Mode = 'READWRITE' | 'READONLY' | 'IMPORT'

/** Contents from here on are only imported, each with an ID of its own. */
export const FIRST_IMPORTED = 7
/** Contents that are registered only when everything else has happened. */
export const FRESH_CONTENTS = [10, 11] as const
const CONTENTS = 12
/** IDs of imported schemas are above those that the registry assigns. */
const IMPORTED_ID = 5_000

/** Schemas of the same shape can read each other, all others cannot. */
export function shapeOf(content: number): string {
  return content < 4 ? 'int' : 'string'
}

/** The text of a content. */
export function schemaOf(content: number): string {
  const fields = [
    { name: 'value', type: shapeOf(content) },
    { name: `field${content}`, type: 'string', default: '' },
  ]
  return JSON.stringify({ type: 'record', name: 'Line', fields })
}

const CONTENT_OF_SCHEMA = new Map(Array.from({ length: CONTENTS }, (_, content) => [schemaOf(content), content]))

/** The content of a text; undefined if the text is none that was sent. */
export function contentOf(schema: string): number | undefined {
  return CONTENT_OF_SCHEMA.get(schema)
}

export function importedIdOf(content: number): number {
  return IMPORTED_ID + content
}

export type HttpRequest = { readonly method: string; readonly path: string; readonly body?: unknown }

/** The request as it is sent. */
export function httpRequestOf(request: RegistryRequest): HttpRequest {
  const subject = 'subject' in request ? `/subjects/${request.subject}` : ''
  const permanent = 'permanent' in request && request.permanent ? '?permanent=true' : ''
  switch (request.kind) {
    case 'register':
      return { method: 'POST', path: `${subject}/versions`, body: { schema: schemaOf(request.content) } }
    case 'import': {
      const { content, version } = request
      const body = { schema: schemaOf(content), id: importedIdOf(content), version }
      return { method: 'POST', path: `${subject}/versions`, body }
    }
    case 'delete-version':
      return { method: 'DELETE', path: `${subject}/versions/${request.version}${permanent}` }
    case 'delete-subject':
      return { method: 'DELETE', path: `${subject}${permanent}` }
    case 'set-config':
      return { method: 'PUT', path: `/config/${request.subject}`, body: { compatibility: request.level } }
    case 'delete-config':
      return { method: 'DELETE', path: `/config/${request.subject}` }
    case 'set-mode':
      return {
        method: 'PUT',
        path: `/mode/${request.subject}${request.force ? '?force=true' : ''}`,
        body: { mode: request.mode },
      }
    case 'delete-mode':
      return { method: 'DELETE', path: `/mode/${request.subject}` }
    case 'versions':
      return { method: 'GET', path: `${subject}/versions?deletedAsNegative=true` }
    case 'version':
      return { method: 'GET', path: `${subject}/versions/${request.version}?deleted=true` }
    case 'lookup':
      return { method: 'POST', path: subject, body: { schema: schemaOf(request.content) } }
    default:
      return httpRequestOfKey(request)
  }
}

const KEKS = '/dek-registry/v1/keks'

function httpRequestOfKey(request: KeyRequest | KeyRead): HttpRequest {
  const kek = `${KEKS}/${request.kek}`
  const permanent = 'permanent' in request && request.permanent ? '?permanent=true' : ''
  const dek = 'subject' in request ? `${kek}/deks/${request.subject}/versions/${request.version}` : ''
  switch (request.kind) {
    case 'create-kek':
      return { method: 'POST', path: KEKS, body: { name: request.kek, kmsType: 'vault', kmsKeyId: 'key' } }
    case 'delete-kek':
      return { method: 'DELETE', path: `${kek}${permanent}` }
    case 'undelete-kek':
      return { method: 'POST', path: `${kek}/undelete` }
    case 'create-dek': {
      const { subject, version, material } = request
      return { method: 'POST', path: `${kek}/deks`, body: { subject, version, encryptedKeyMaterial: material } }
    }
    case 'delete-dek':
      return { method: 'DELETE', path: `${dek}${permanent}` }
    case 'undelete-dek':
      return { method: 'POST', path: `${dek}/undelete` }
    case 'dek':
      return { method: 'GET', path: `${dek}?deleted=true` }
  }
}
