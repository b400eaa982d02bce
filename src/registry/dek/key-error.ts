import { RegistryError } from '../model/registry-error.ts'

// The messages are exactly those of Confluent's registry, because clients match them.

/** `key` is the name of a KEK or the subject of a DEK. */
export function keyNotFound(key: string): RegistryError {
  return new RegistryError('key_not_found', `Key '${key}' not found`)
}

export function keyNotSoftDeleted(key: string): RegistryError {
  return new RegistryError(
    'key_not_soft_deleted',
    `Key '${key}' was not deleted first before being permanently deleted`,
  )
}

export function keySoftDeleted(key: string): RegistryError {
  return new RegistryError('key_soft_deleted', `Key '${key}' must be undeleted first`)
}

export function keyExists(key: string): RegistryError {
  return new RegistryError('key_exists', `Key '${key}' already exists; use a different value`)
}

export function tooManyKeys(keysMax: number): RegistryError {
  return new RegistryError('too_many_keys', `A maximum of ${keysMax} keys already exist`)
}

export function invalidKey(field: string): RegistryError {
  return new RegistryError('invalid_key', `Invalid or missing value for field '${field}' of key`)
}

export function keyReferenceExists(kekName: string): RegistryError {
  return new RegistryError('key_reference_exists', `One or more references exist to the key '${kekName}'`)
}

/** `key` is the name of a KEK, or describes the DEKs of a subject. */
export function keyUnreadable(key: string): RegistryError {
  const remedy = 'restore the record in the topic of the keys, or replace it with a tombstone'
  return new RegistryError('key_unreadable', `The stored record of the key '${key}' cannot be read: ${remedy}`)
}
