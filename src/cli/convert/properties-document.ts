import { readProperties } from '../../config/properties.ts'
import type { SourceDocument } from './source-document.ts'

/** A file in Java's `.properties` format. Throws an `Error` for an invalid escape. */
export function readPropertiesDocument(bytes: Buffer, file: string): SourceDocument {
  const { properties } = readProperties(bytes)
  const value = Object.fromEntries([...properties].map(([key, property]) => [key, property.value]))
  return { file, value, lineOf: ([key]) => properties.get(String(key))?.line ?? 1 }
}
