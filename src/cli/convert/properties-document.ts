import { parseProperties } from '../../config/properties.ts'
import type { SourceDocument } from './source-document.ts'

/** A file in Java's `.properties` format, which Kafka reads as ISO 8859-1. */
export function readPropertiesDocument(bytes: Buffer, file: string): SourceDocument {
  const properties = parseProperties(bytes.toString('latin1'))
  const value = Object.fromEntries([...properties].map(([key, property]) => [key, property.value]))
  return { file, value, lineOf: ([key]) => properties.get(String(key))?.line ?? 1 }
}
