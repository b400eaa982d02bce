import type { DocumentPath } from '../../common/document-path.ts'
import { parseYamlDocuments } from '../../common/yaml-documents.ts'

/** One document of an input file, with the lines of its fields. */
export type SourceDocument = {
  readonly file: string
  readonly value: unknown
  /** The value with numbers as the texts that they are written as. Undefined: the format has texts only. */
  readonly writtenValue?: () => unknown
  /** The line, from 1, of the field or of its nearest existing parent. */
  lineOf(path: DocumentPath): number
}

/** A document, or a part of a file, that cannot be read. */
export type SourceError = { readonly file: string; readonly line: number; readonly message: string }

export type SourceContent = { readonly documents: readonly SourceDocument[]; readonly errors: readonly SourceError[] }

/** Reads the documents of a YAML or JSON file. An offset or a configuration value must not be rounded. */
export function readYamlDocuments(text: string, file: string): SourceContent {
  const documents: SourceDocument[] = []
  const errors: SourceError[] = []
  for (const { value, writtenValue, error, positionOf } of parseYamlDocuments(text, { exactIntegers: true })) {
    if (error !== undefined) {
      const message = `is not valid YAML: ${error.message}${templateHint(text)}`
      errors.push({ file, line: error.line, message })
    } else if (value !== null) {
      documents.push({ file, value, writtenValue, lineOf: (path) => positionOf(path, { atKey: true }).line })
    }
  }
  return { documents, errors }
}

function templateHint(text: string): string {
  return text.includes('{{') ? '; it looks like a template: convert the rendered manifests' : ''
}
